// One pass over data that comes in: is every value usable, is the structure sound, which features occur.
#pragma once

#include <cmath>
#include <cstdint>
#include <mutex>
#include <vector>

#include "csr.hpp"
#include "features.hpp"

namespace ramodo {

struct Scan {
    int64_t bad_row = -1, bad_column = -1;     // first value that is NaN, infinite or larger than the limit
    int64_t outside_row = -1, outside = 0;     // first feature index that is not in [0, D)
    bool ordered = true;                       // every row's indices increase
    double largest = 0;                        // largest absolute value
};

template <class V>
bool usable(const V* values, int64_t n, double limit, double& largest) {
    double highest = 0;
    bool fine = true;
    for (int64_t k = 0; k < n; ++k) {
        const double size = std::fabs(static_cast<double>(values[k]));
        fine &= size <= limit;
        highest = size > highest ? size : highest;
    }
    largest = highest;
    return fine;
}

// Features of non-zero values go to `seen`.
template <class I, class V>
Scan scan_sparse(ThreadPool& pool, const Csr<I, V>& x, double limit, FeatureSet& seen) {
    Scan total;
    std::mutex mutex;
    auto part = [&](int64_t begin, int64_t end) {
        Scan own;
        std::vector<I> present;
        for (int64_t row = begin; row < end; ++row) {
            const I* columns = x.indices + x.begin(row);
            const V* values = x.data + x.begin(row);
            const int64_t n = x.length(row);
            bool inside = true, ordered = true;
            for (int64_t k = 0; k < n; ++k) inside &= columns[k] >= 0 && static_cast<int64_t>(columns[k]) < x.n_columns;
            for (int64_t k = 1; k < n; ++k) ordered &= columns[k - 1] < columns[k];
            own.ordered &= ordered;
            double largest;
            const bool fine = usable(values, n, limit, largest);
            own.largest = std::max(own.largest, largest);
            if (!inside && own.outside_row < 0)
                for (int64_t k = 0; k < n; ++k)
                    if (columns[k] < 0 || static_cast<int64_t>(columns[k]) >= x.n_columns) {
                        own.outside_row = row, own.outside = columns[k];
                        break;
                    }
            if (!fine && own.bad_row < 0)
                for (int64_t k = 0; k < n; ++k)
                    if (!(std::fabs(static_cast<double>(values[k])) <= limit)) {
                        own.bad_row = row, own.bad_column = columns[k];
                        break;
                    }
            if (!inside) continue;
            present.clear();
            for (int64_t k = 0; k < n; ++k)
                if (values[k] != 0) present.push_back(columns[k]);
            seen.insert(present.data(), static_cast<int64_t>(present.size()));
        }
        std::lock_guard<std::mutex> lock(mutex);
        total.ordered &= own.ordered;
        total.largest = std::max(total.largest, own.largest);
        if (own.bad_row >= 0 && (total.bad_row < 0 || own.bad_row < total.bad_row))
            total.bad_row = own.bad_row, total.bad_column = own.bad_column;
        if (own.outside_row >= 0 && (total.outside_row < 0 || own.outside_row < total.outside_row))
            total.outside_row = own.outside_row, total.outside = own.outside;
    };
    if (seen.concurrent()) parallel_ranges(pool, x.n_rows, 256, part);
    else if (x.n_rows > 0) part(0, x.n_rows);
    return total;
}

}  // namespace ramodo
