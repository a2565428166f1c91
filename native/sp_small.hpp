// Sp in the representation (equation 1 after the mapping): differences are taken directly, in double precision.
#pragma once

#include <cstdint>
#include <vector>

#include "inner_loops.hpp"

namespace ramodo {

class SmallReferences {
public:
    // Rows [i * size, (i + 1) * size) of `rows` (n x m) are the i-th subsample. A subsample is padded with its own
    // first member, which changes no minimum.
    SmallReferences(const float* rows, int64_t n, int m, int64_t subsample_size)
        : m_(m), n_subsamples_(n / subsample_size), lanes_((subsample_size + 3) / 4 * 4),
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
        inner_loops().score_small(rows, n_rows, m_, references_.data(), n_subsamples_, lanes_, scratch.data(), scores);
    }

private:
    int m_;
    int64_t n_subsamples_, lanes_;
    std::vector<double> references_;
};

}  // namespace ramodo
