// The ranking loss of section 4.4 on a batch of hidden rows, and its gradient.
//
// A triplet is n queries, a positive and a negative. Its loss is max(0, c + φ(positive) - φ(negative)), with φ on squared
// distances to the queries: the smallest, the k-th smallest, or the mean of the k smallest. The gradient flows to the
// queries that φ names, and to no others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "phi.hpp"

namespace ramodo {

class Hinge {
public:
    // Rows come times `scale`; the margin is the caller's, in unscaled units.
    Hinge(int m, int width, int n_queries, Phi phi, double margin, double scale)
        : m_(m), width_(width), n_queries_(n_queries), phi_(phi), margin_(margin * scale * scale), scale_(scale) {}

    int triplet_size() const { return n_queries_ + 2; }

    // hidden: the rows of the batch, width apart; triplets: n_triplets x (n + 2) places in it. Fills deltas (the gradient
    // with respect to hidden); returns the mean loss.
    double operator()(const float* hidden, int64_t n_rows, const int32_t* triplets, int64_t n_triplets, float* deltas) {
        std::memset(deltas, 0, sizeof(float) * static_cast<size_t>(n_rows * width_));
        touched_.assign(static_cast<size_t>(n_rows), 0);
        const float factor = static_cast<float>(2.0 / static_cast<double>(n_triplets));
        double total = 0;
        for (int64_t t = 0; t < n_triplets; ++t) {
            const int32_t* queries = triplets + t * triplet_size();
            const int32_t positive = queries[n_queries_], negative = queries[n_queries_ + 1];
            const double near = measure(hidden, positive, queries, near_);
            const double far = measure(hidden, negative, queries, far_);
            const double loss = margin_ + near - far;
            if (!(loss > 0)) continue;
            total += loss;
            pull_all(hidden, positive, near_, factor, deltas);
            pull_all(hidden, negative, far_, -factor, deltas);
        }
        return total / static_cast<double>(n_triplets) / (scale_ * scale_);
    }

    bool touched(int64_t row) const { return touched_[row]; }

private:
    struct Distance {
        double squared;
        int32_t query;
    };

    // φ of one row; `named` are the queries that it depends on.
    double measure(const float* hidden, int32_t row, const int32_t* queries, std::vector<Distance>& named) const {
        named.clear();
        if (phi_.nearest()) {
            named.push_back(nearest(hidden, row, queries));
            return named[0].squared;
        }
        for (int q = 0; q < n_queries_; ++q) named.push_back({squared(hidden, row, queries[q]), queries[q]});
        std::stable_sort(named.begin(), named.end(), [](Distance a, Distance b) { return a.squared < b.squared; });
        named.resize(static_cast<size_t>(phi_.k));
        if (!phi_.average) named.erase(named.begin(), named.end() - 1);
        double total = 0;
        for (const Distance& d : named) total += d.squared;
        return total / static_cast<double>(named.size());
    }

    Distance nearest(const float* hidden, int32_t row, const int32_t* queries) const {
        Distance best{squared(hidden, row, queries[0]), queries[0]};
        for (int q = 1; q < n_queries_; ++q) {
            const double distance = squared(hidden, row, queries[q]);
            if (distance < best.squared) best = {distance, queries[q]};
        }
        return best;
    }

    double squared(const float* hidden, int32_t a, int32_t b) const {
        const float* x = hidden + static_cast<size_t>(a) * width_;
        const float* y = hidden + static_cast<size_t>(b) * width_;
        double total = 0;
        for (int i = 0; i < m_; ++i) {
            const double difference = static_cast<double>(x[i]) - y[i];
            total += difference * difference;
        }
        return total;
    }

    void pull_all(const float* hidden, int32_t row, const std::vector<Distance>& named, float factor, float* deltas) {
        const float share = factor / static_cast<float>(named.size());
        for (const Distance& d : named) pull(hidden, row, d.query, share, deltas);
    }

    // deltas of factor / 2 * |row - query|^2
    void pull(const float* hidden, int32_t row, int32_t query, float factor, float* deltas) {
        const float* x = hidden + static_cast<size_t>(row) * width_;
        const float* y = hidden + static_cast<size_t>(query) * width_;
        float* __restrict dx = deltas + static_cast<size_t>(row) * width_;
        float* __restrict dy = deltas + static_cast<size_t>(query) * width_;
        if (row == query) return;
        for (int i = 0; i < width_; ++i) {
            const float d = factor * (x[i] - y[i]);
            dx[i] += d;
            dy[i] -= d;
        }
        touched_[row] = touched_[query] = 1;
    }

    int m_, width_, n_queries_;
    Phi phi_;
    double margin_, scale_;
    std::vector<char> touched_;
    std::vector<Distance> near_, far_;
};

}  // namespace ramodo
