// Sums by feature, however many features there are: what each adds to the scores of many rows together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "changed.hpp"
#include "features.hpp"

namespace ramodo {

class FeatureSums {
public:
    using Sum = std::pair<int64_t, double>;    // a feature, and its sum

    template <class I>
    void add(const I* columns, const double* values, int64_t n) {
        for (int64_t k = 0; k < n; ++k) {
            const int64_t column = load_once(columns + k);
            if (column < 0) refuse_changed();
            const int32_t at = places_.find_or_insert(column, static_cast<int32_t>(sums_.size()));
            if (at == static_cast<int32_t>(sums_.size())) sums_.emplace_back(column, 0.0);
            sums_[at].second += values[k];
        }
    }

    // The largest by absolute value, in that order; ties by feature.
    std::vector<Sum> top(int64_t n) const {
        std::vector<Sum> order(sums_);
        n = std::min<int64_t>(n, static_cast<int64_t>(order.size()));
        std::partial_sort(order.begin(), order.begin() + n, order.end(), stronger);
        order.resize(static_cast<size_t>(n));
        return order;
    }

    static bool stronger(const Sum& a, const Sum& b) {
        const double x = std::abs(a.second), y = std::abs(b.second);
        return x != y ? x > y : a.first < b.first;
    }

private:
    HashTable places_;
    std::vector<Sum> sums_;
};

}  // namespace ramodo
