// The ranking loss of section 4.4 on a batch of hidden rows, and its gradient.
//
// A triplet is n queries, a positive and a negative. Its loss is max(0, c + d(positive) - d(negative)), with d the
// squared distance to the nearest query. The gradient flows to that query alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace ramodo {

struct Nearest {
    int32_t query;
    double distance;
};

class Hinge {
public:
    // Values of X are taken times `scale`; the margin is the caller's, in unscaled units.
    Hinge(int m, int width, int n_queries, double margin, double scale)
        : m_(m), width_(width), n_queries_(n_queries), margin_(margin * scale * scale), scale_(scale) {}

    int triplet_size() const { return n_queries_ + 2; }

    // hidden: the rows of the batch (ReLU applied), width apart; triplets: n_triplets x (n + 2) places in it.
    // Fills deltas (the gradient with respect to x W) and the list of rows that have one; returns the mean loss.
    double operator()(const float* hidden, int64_t n_rows, const int32_t* triplets, int64_t n_triplets, float* deltas,
                      std::vector<int32_t>& active) {
        std::memset(deltas, 0, sizeof(float) * static_cast<size_t>(n_rows * width_));
        touched_.assign(static_cast<size_t>(n_rows), 0);
        const float factor = static_cast<float>(2.0 / static_cast<double>(n_triplets));
        double total = 0;
        for (int64_t t = 0; t < n_triplets; ++t) {
            const int32_t* queries = triplets + t * triplet_size();
            const int32_t positive = queries[n_queries_], negative = queries[n_queries_ + 1];
            const Nearest near = nearest(hidden, positive, queries);
            const Nearest far = nearest(hidden, negative, queries);
            const double loss = margin_ + near.distance - far.distance;
            if (!(loss > 0)) continue;
            total += loss;
            pull(hidden, positive, near.query, factor, deltas);
            pull(hidden, negative, far.query, -factor, deltas);
        }
        pass_relu(hidden, n_rows, deltas, active);
        return total / static_cast<double>(n_triplets) / (scale_ * scale_);
    }

private:
    Nearest nearest(const float* hidden, int32_t row, const int32_t* queries) const {
        Nearest best{queries[0], squared(hidden, row, queries[0])};
        for (int q = 1; q < n_queries_; ++q) {
            const double distance = squared(hidden, row, queries[q]);
            if (distance < best.distance) best = {queries[q], distance};
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

    // Through the ReLU, and through the scaling of X.
    void pass_relu(const float* hidden, int64_t n_rows, float* deltas, std::vector<int32_t>& active) const {
        const float scale = static_cast<float>(scale_);
        active.clear();
        for (int64_t r = 0; r < n_rows; ++r) {
            if (!touched_[r]) continue;
            const float* h = hidden + r * width_;
            float* d = deltas + r * width_;
            bool any = false;
            for (int i = 0; i < width_; ++i) {
                d[i] = h[i] > 0 ? d[i] * scale : 0.0f;
                any |= d[i] != 0;
            }
            if (any) active.push_back(static_cast<int32_t>(r));
        }
    }

    int m_, width_, n_queries_;
    double margin_, scale_;
    std::vector<char> touched_;
};

inline void relu(float* hidden, int64_t n, float scale) {
    for (int64_t i = 0; i < n; ++i) hidden[i] = hidden[i] > 0 ? hidden[i] * scale : 0.0f;
}

}  // namespace ramodo
