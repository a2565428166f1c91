// What each feature adds to a score: a table from features to sums, filled from the non-zeros of rows.
//
// A score is linear in the rows that it compares, once it is known which units respond and which references are nearest:
// feature j of a row adds x_j (W_j · p), with p what the score makes of the units. See explanation.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "projection.hpp"

namespace ramodo {

class Contributions {
public:
    Contributions() { resize(1 << 12); }

    void clear() {
        for (uint64_t at : used_) keys_[at] = -1;
        used_.clear();
    }

    // sums[column] += factor * value * (weights of column · p), for the non-zeros of one row.
    template <class I, class V>
    void add(const Projection& projection, const I* columns, const V* values, int64_t n, double factor, const double* p) {
        if (room_.size() < static_cast<size_t>(padded_width(projection.width()))) room_.resize(padded_width(projection.width()));
        for (int64_t k = 0; k < n; ++k) {
            const float* w = projection.weights_of(columns[k], room_.data());
            double product = 0;
            for (int i = 0; i < projection.width(); ++i) product += static_cast<double>(w[i]) * p[i];
            add_to(columns[k], factor * static_cast<double>(values[k]) * product);
        }
    }

    double total() const {
        double sum = 0;
        for (uint64_t at : used_) sum += sums_[at];
        return sum;
    }
    int64_t size() const { return static_cast<int64_t>(used_.size()); }

    // The features of the largest sums by absolute value, in that order; ties by feature.
    void top(int64_t n, std::vector<int64_t>& columns, std::vector<double>& sums) const {
        std::vector<uint64_t> order(used_);
        n = std::min<int64_t>(n, size());
        std::partial_sort(order.begin(), order.begin() + n, order.end(), [&](uint64_t a, uint64_t b) {
            const double x = std::abs(sums_[a]), y = std::abs(sums_[b]);
            return x != y ? x > y : keys_[a] < keys_[b];
        });
        for (int64_t i = 0; i < n; ++i) columns.push_back(keys_[order[i]]), sums.push_back(sums_[order[i]]);
    }

private:
    void add_to(int64_t column, double value) {
        uint64_t at = splitmix64(static_cast<uint64_t>(column)) & mask_;
        while (keys_[at] != -1 && keys_[at] != column) at = (at + 1) & mask_;
        if (keys_[at] == column) {
            sums_[at] += value;
            return;
        }
        keys_[at] = column;
        sums_[at] = value;
        used_.push_back(at);
        if (2 * used_.size() > keys_.size()) grow();
    }

    void resize(uint64_t capacity) {
        keys_.assign(capacity, -1);
        sums_.assign(capacity, 0);
        mask_ = capacity - 1;
        used_.clear();
    }

    void grow() {
        std::vector<std::pair<int64_t, double>> kept;
        for (uint64_t at : used_) kept.emplace_back(keys_[at], sums_[at]);
        resize(2 * keys_.size());
        for (const auto& [column, sum] : kept) add_to(column, sum);
    }

    std::vector<int64_t> keys_;
    std::vector<double> sums_;
    std::vector<uint64_t> used_;
    std::vector<float> room_;
    uint64_t mask_ = 0;
};

}  // namespace ramodo
