// Lengths of rows: what a row is divided by where it is normalised.
#pragma once

#include <cstdint>

#include "csr.hpp"
#include "inner_loops.hpp"
#include "threads.hpp"

namespace ramodo {

inline double squared_norm(const float* values, int64_t n) { return inner_loops().squared_norm_float(values, n); }
inline double squared_norm(const double* values, int64_t n) { return inner_loops().squared_norm_double(values, n); }

template <class V>
double largest(const V* values, int64_t n) {
    V best = 0;
    for (int64_t k = 0; k < n; ++k) {
        const V size = values[k] < 0 ? -values[k] : values[k];
        best = size > best ? size : best;
    }
    return static_cast<double>(best);
}

// out[row] = length(its values, how many there are)
template <class I, class V, class F>
void for_rows(ThreadPool& pool, const Csr<I, V>& x, double* out, F&& length) {
    parallel_ranges(pool, x.n_rows, 256, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) out[row] = length(x.data + x.begin(row), x.length(row));
    });
}

}  // namespace ramodo
