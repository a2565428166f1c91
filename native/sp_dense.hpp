// φ on dense rows of the original features, in double precision: by products, and by direct differences where norms
// cancel. A subsample's references stay in the cache while a few rows pass over them; each row is summed by itself and in
// one order, so its score is the same bits alone and among others, which BLAS does not promise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "inner_loops.hpp"
#include "norms.hpp"
#include "phi.hpp"
#include "threads.hpp"

namespace ramodo {

class DenseReferences {
public:
    // Rows [i * size, (i + 1) * size) of `rows` (n x d) are the i-th subsample, padded with copies of its first reference.
    DenseReferences(const double* rows, int64_t n, int64_t d, int64_t subsample_size, Phi phi)
        : d_(d), size_(subsample_size), phi_(phi), n_subsamples_(n / subsample_size), lanes_((subsample_size + 3) / 4 * 4),
          rows_(rows, rows + n * d), references_(static_cast<size_t>(n_subsamples_ * d * lanes_)) {
        for (int64_t r = 0; r < n; ++r) norms_.push_back(squared_norm(rows + r * d, d));
        for (int64_t s = 0; s < n_subsamples_; ++s)
            for (int64_t l = 0; l < lanes_; ++l) {
                const double* row = rows + (s * size_ + (l < size_ ? l : 0)) * d;
                for (int64_t i = 0; i < d; ++i) references_[(s * d + i) * lanes_ + l] = row[i];
            }
    }

    int64_t width() const { return d_; }

    // scores[i] of rows [begin, end) of x (d apart), each times its factor.
    template <class V>
    void score(const V* x, const double* factors, int64_t begin, int64_t end, double* scores) const {
        std::vector<double> rows(static_cast<size_t>(kTogether * d_)), products(static_cast<size_t>(kTogether * lanes_));
        for (int64_t first = begin; first < end; first += kTogether) {
            const int64_t n = std::min(kTogether, end - first);
            double norms[kTogether], totals[kTogether] = {};
            for (int64_t r = 0; r < n; ++r) {
                const double factor = factors ? factors[first + r] : 1.0;
                for (int64_t i = 0; i < d_; ++i) rows[r * d_ + i] = factor * static_cast<double>(x[(first + r) * d_ + i]);
                norms[r] = squared_norm(rows.data() + r * d_, d_);
            }
            for (int64_t s = 0; s < n_subsamples_; ++s) {
                inner_loops().products_wide(rows.data(), d_, references_.data() + s * d_ * lanes_, lanes_, products.data());
                for (int64_t r = 0; r < n; ++r)
                    totals[r] += distance(rows.data() + r * d_, norms[r], products.data() + r * lanes_, s * size_);
            }
            for (int64_t r = 0; r < n; ++r) scores[first + r] = totals[r] / static_cast<double>(n_subsamples_);
        }
    }

    // scores[i] of n rows of x.
    template <class V>
    void score(ThreadPool& pool, const V* x, int64_t n, const double* factors, double* scores) const {
        parallel_ranges(pool, n, 8, [&](int64_t begin, int64_t end) { score(x, factors, begin, end, scores); });
    }

private:
    static constexpr int64_t kTogether = 4;
    static constexpr double kLost = 1e-6;     // share of |x|^2 + |s|^2 below which too many digits have cancelled

    // φ of a row and the subsample that starts at reference `first`; its products are lost.
    double distance(const double* row, double norm, double* products, int64_t first) const {
        double smallest = INFINITY;
        for (int64_t i = 0; i < size_; ++i) {
            const double both = norm + norms_[first + i];
            double squared = both - 2 * products[i];
            if (squared < kLost * both) squared = direct(row, rows_.data() + (first + i) * d_);
            smallest = std::min(smallest, squared);
            products[i] = squared;
        }
        return phi_.nearest() ? std::sqrt(smallest) : phi_(products, size_);
    }

    double direct(const double* a, const double* b) const {
        double total = 0;
        for (int64_t i = 0; i < d_; ++i) total += (a[i] - b[i]) * (a[i] - b[i]);
        return total;
    }

    int64_t d_, size_;
    Phi phi_;
    int64_t n_subsamples_, lanes_;
    std::vector<double> rows_, norms_, references_;
};

}  // namespace ramodo
