// How few training rows have what a row has. Counts of rows by feature, and for each row a sum over its features of a
// weight that depends on the count alone: absent features weigh nothing, features never seen weigh most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "changed.hpp"
#include "csr.hpp"
#include "features.hpp"
#include "threads.hpp"

namespace ramodo {

struct FeatureCounts {
    std::vector<int64_t> columns;    // in order
    std::vector<int32_t> counts;     // rows that have each
};

// In how many rows each feature is not zero. A table of D numbers for each thread where that is small beside the data.
template <class I, class V>
FeatureCounts count_features(ThreadPool& pool, const Csr<I, V>& x) {
    const int64_t begin = x.begin(0), end = x.begin(x.n_rows), d = x.n_columns;
    FeatureCounts found;
    if (d / 2 <= end - begin) {
        const int64_t n_tables = std::max<int64_t>(1, std::min<int64_t>(pool.size(), (end - begin) / std::max<int64_t>(1, 4 * d)));
        std::vector<std::vector<int32_t>> tables(static_cast<size_t>(n_tables));
        pool.run(n_tables, [&](int64_t t) {
            auto& table = tables[static_cast<size_t>(t)];
            table.assign(static_cast<size_t>(d), 0);
            const int64_t last = begin + (end - begin) * (t + 1) / n_tables;
            for (int64_t k = begin + (end - begin) * t / n_tables; k < last; ++k) {
                const int64_t column = load_once(x.indices + k);
                if (static_cast<uint64_t>(column) >= static_cast<uint64_t>(d)) refuse_changed();
                table[static_cast<size_t>(column)] += x.data[k] != V{0};
            }
        });
        for (int64_t column = 0; column < d; ++column) {
            int32_t count = 0;
            for (const auto& table : tables) count += table[static_cast<size_t>(column)];
            if (count) found.columns.push_back(column), found.counts.push_back(count);
        }
        return found;
    }
    HashTable places;
    std::vector<std::pair<int64_t, int32_t>> counted;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t column = load_once(x.indices + k);
        if (static_cast<uint64_t>(column) >= static_cast<uint64_t>(d)) refuse_changed();
        if (x.data[k] == V{0}) continue;
        const int32_t next = static_cast<int32_t>(counted.size()), at = places.find_or_insert(column, next);
        if (at == next) counted.emplace_back(column, 0);
        ++counted[static_cast<size_t>(at)].second;
    }
    std::sort(counted.begin(), counted.end());
    for (const auto& [column, count] : counted) found.columns.push_back(column), found.counts.push_back(count);
    return found;
}

// A weight for each feature; `unlisted` is that of features that are not listed.
class FeatureWeights {
public:
    FeatureWeights(const int64_t* columns, const float* weights, int64_t n, int64_t d, float unlisted)
        : d_(d), lookup_(columns, n, d), weights_(weights, weights + n), unlisted_(unlisted) {}

    int64_t n_columns() const { return d_; }

    double operator()(int64_t column) const {
        const int32_t place = lookup_.find(column);
        return static_cast<double>(place < 0 ? unlisted_ : weights_[static_cast<size_t>(place)]);
    }

    // out[row]: the sum over the features that a row has, in their order.
    template <class I, class V>
    void sums(ThreadPool& pool, const Csr<I, V>& x, double* out) const {
        parallel_ranges(pool, x.n_rows, 64, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) {
                double sum = 0;
                for (int64_t k = x.begin(row); k < x.end(row); ++k)
                    if (x.data[k] != V{0}) sum += (*this)(load_once(x.indices + k));
                out[row] = sum;
            }
        });
    }

private:
    int64_t d_;
    FeatureLookup lookup_;
    std::vector<float> weights_;
    float unlisted_;
};

}  // namespace ramodo
