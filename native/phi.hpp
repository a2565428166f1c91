// φ, how far a row is from a set of others: the distance to the nearest, to the k-th nearest, or the mean of those to
// the k nearest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ramodo {

struct Phi {
    int k = 1;
    bool average = false;      // of the k nearest; else the k-th alone
    bool nearest() const { return k == 1; }

    // From n >= k squared distances, which are reordered.
    double operator()(double* squared, int64_t n) const {
        std::nth_element(squared, squared + k - 1, squared + n);
        if (!average) return std::sqrt(squared[k - 1]);
        std::sort(squared, squared + k);      // one order of summation, whatever nth_element left
        double total = 0;
        for (int i = 0; i < k; ++i) total += std::sqrt(squared[i]);
        return total / k;
    }
};

}  // namespace ramodo
