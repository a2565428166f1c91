// What a unit makes of its sum: ReLU (slope 0), leaky ReLU (a small slope) or nothing (slope 1), times a factor.
#pragma once

#include <cstdint>

namespace ramodo {

inline void activate(float* sums, int64_t n, float factor, float slope) {
    if (slope == 0)
        for (int64_t i = 0; i < n; ++i) sums[i] = sums[i] > 0 ? sums[i] * factor : 0.0f;
    else
        for (int64_t i = 0; i < n; ++i) sums[i] *= sums[i] > 0 ? factor : factor * slope;
}

// The gradient with respect to the sums, from the one with respect to what activate() made of them (same signs).
// Returns whether any of it is left.
inline bool activate_back(const float* activated, float* gradient, int64_t n, float factor, float slope) {
    bool any = false;
    for (int64_t i = 0; i < n; ++i) {
        gradient[i] = activated[i] > 0 ? gradient[i] * factor : slope == 0 ? 0.0f : gradient[i] * (factor * slope);
        any |= gradient[i] != 0;
    }
    return any;
}

}  // namespace ramodo
