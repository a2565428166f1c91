// Lengths of rows: what a row is divided by where it is normalised.
#pragma once

#include <cstdint>

#include "inner_loops.hpp"

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

}  // namespace ramodo
