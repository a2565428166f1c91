// φ in the representation (equation 1 after the mapping): differences are taken directly, in double precision.
#pragma once

#include <cstdint>
#include <vector>

#include "inner_loops.hpp"
#include "phi.hpp"
#include "threads.hpp"

namespace ramodo {

class SmallReferences {
public:
    // Rows [i * size, (i + 1) * size) of `rows` (n x m) are the i-th subsample. A subsample is padded with its own
    // first reference, which changes no minimum; φ of more than the nearest looks at the true references only.
    SmallReferences(const float* rows, int64_t n, int m, int64_t subsample_size, Phi phi)
        : m_(m), size_(subsample_size), phi_(phi), n_subsamples_(n / subsample_size), lanes_((subsample_size + 3) / 4 * 4),
          references_(static_cast<size_t>(n_subsamples_ * m * lanes_)) {
        for (int64_t s = 0; s < n_subsamples_; ++s)
            for (int64_t l = 0; l < lanes_; ++l)
                for (int i = 0; i < m; ++i)
                    references_[(s * m + i) * lanes_ + l] =
                        rows[(s * subsample_size + (l < subsample_size ? l : 0)) * m + i];
    }

    int width() const { return m_; }

    void score(const float* rows, int64_t n_rows, double* scores) const {
        std::vector<double> scratch(static_cast<size_t>(lanes_));
        if (phi_.nearest()) {
            inner_loops().score_small(rows, n_rows, m_, references_.data(), n_subsamples_, lanes_, scratch.data(), scores);
            return;
        }
        for (int64_t r = 0; r < n_rows; ++r) {
            double total = 0;
            for (int64_t s = 0; s < n_subsamples_; ++s) {
                inner_loops().distances_small(rows + r * m_, m_, references_.data() + s * m_ * lanes_, lanes_, scratch.data());
                total += phi_(scratch.data(), size_);
            }
            scores[r] = total / static_cast<double>(n_subsamples_);
        }
    }

    void score(ThreadPool& pool, const float* rows, int64_t n_rows, double* scores) const {
        parallel_ranges(pool, n_rows, 256, [&](int64_t begin, int64_t end) {
            score(rows + begin * m_, end - begin, scores + begin);
        });
    }

private:
    int m_;
    int64_t size_;
    Phi phi_;
    int64_t n_subsamples_, lanes_;
    std::vector<double> references_;
};

}  // namespace ramodo
