// The weights that training starts from, and those of features it never saw: uniform in (-limit, limit), a function
// of the seed and the feature's index alone, so they need no memory and do not depend on the data.
#pragma once

#include <cstdint>

namespace ramodo {

inline uint64_t splitmix64(uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

struct InitialWeights {
    uint64_t seed = 0;
    float limit = 0;
    uint64_t key(int64_t column) const { return splitmix64(seed ^ splitmix64(static_cast<uint64_t>(column))); }
};

}  // namespace ramodo
