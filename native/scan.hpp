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

struct Values {
    bool usable, any_zero;
    double largest;
};

template <class V>
Values look_at(const V* values, int64_t n, V limit) {
    V largest = 0;
    int bad = 0, zeros = 0;
    for (int64_t k = 0; k < n; ++k) {
        const V size = values[k] < 0 ? -values[k] : values[k];
        bad |= !(size <= limit);
        zeros |= size == 0;
        largest = size > largest ? size : largest;
    }
    return {!bad, zeros != 0, static_cast<double>(largest)};
}

// Features of non-zero values go to `seen`, where they are asked for.
template <class I, class V>
Scan scan_sparse(ThreadPool& pool, const Csr<I, V>& x, double limit, FeatureSet* seen) {
    Scan total;
    std::mutex mutex;
    auto part = [&](int64_t begin, int64_t end) {
        Scan own;
        std::vector<I> present;
        for (int64_t row = begin; row < end; ++row) {
            const I* columns = x.indices + x.begin(row);
            const V* values = x.data + x.begin(row);
            const int64_t n = x.length(row);
            int decreases = 0;
            for (int64_t k = 1; k < n; ++k) decreases |= columns[k - 1] >= columns[k];
            own.ordered &= !decreases;
            bool inside = true;
            if (!decreases && n > 0) inside = columns[0] >= 0 && static_cast<int64_t>(columns[n - 1]) < x.n_columns;
            else
                for (int64_t k = 0; k < n; ++k)
                    inside &= columns[k] >= 0 && static_cast<int64_t>(columns[k]) < x.n_columns;
            const Values found = look_at(values, n, static_cast<V>(limit));
            own.largest = std::max(own.largest, found.largest);
            if (!inside && own.outside_row < 0)
                for (int64_t k = 0; k < n; ++k)
                    if (columns[k] < 0 || static_cast<int64_t>(columns[k]) >= x.n_columns) {
                        own.outside_row = row, own.outside = columns[k];
                        break;
                    }
            if (!found.usable && own.bad_row < 0)
                for (int64_t k = 0; k < n; ++k)
                    if (!(std::fabs(values[k]) <= static_cast<V>(limit))) {
                        own.bad_row = row, own.bad_column = columns[k];
                        break;
                    }
            if (!inside || !seen) continue;
            if (!found.any_zero) {
                seen->insert(columns, n);
                continue;
            }
            present.clear();
            for (int64_t k = 0; k < n; ++k)
                if (values[k] != 0) present.push_back(columns[k]);
            seen->insert(present.data(), static_cast<int64_t>(present.size()));
        }
        std::lock_guard<std::mutex> lock(mutex);
        total.ordered &= own.ordered;
        total.largest = std::max(total.largest, own.largest);
        if (own.bad_row >= 0 && (total.bad_row < 0 || own.bad_row < total.bad_row))
            total.bad_row = own.bad_row, total.bad_column = own.bad_column;
        if (own.outside_row >= 0 && (total.outside_row < 0 || own.outside_row < total.outside_row))
            total.outside_row = own.outside_row, total.outside = own.outside;
    };
    if (!seen || seen->concurrent()) parallel_ranges(pool, x.n_rows, 256, part);
    else if (x.n_rows > 0) part(0, x.n_rows);
    return total;
}

}  // namespace ramodo
