// The rows that were drawn into triplets, with features numbered by place: either the rows of X as they are (place =
// index, where most features occur), or a copy over the features seen (where D is large against the data).
#pragma once

#include <cstdint>
#include <vector>

#include "changed.hpp"
#include "csr.hpp"
#include "features.hpp"

namespace ramodo {

template <class V>
struct Selection {
    const int32_t* indices = nullptr;
    const V* data = nullptr;
    int64_t n_slots = 0;
    bool may_change = false;
    std::vector<int64_t> starts, ends;
    std::vector<int64_t> columns;            // place -> feature; empty: the same
    std::vector<int32_t> own_indices;        // of a copy
    std::vector<V> own_data;

    int64_t n_rows() const { return static_cast<int64_t>(starts.size()); }
    int64_t begin(int64_t row) const { return starts[row]; }
    int64_t end(int64_t row) const { return ends[row]; }
    int64_t length(int64_t row) const { return ends[row] - starts[row]; }
};

template <class I, class V>
int64_t count_entries(const Csr<I, V>& x, const int64_t* rows, int64_t n) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; ++i) total += x.length(rows[i]);
    return total;
}

// Training keeps a record per place, so places may equal indices only where features recur often.
inline bool in_place(int64_t d, int64_t n_entries) { return 16 * d <= n_entries && d < INT32_MAX; }

template <class V>
Selection<V> select_in_place(const Csr<int32_t, V>& x, const int64_t* rows, int64_t n) {
    Selection<V> s;
    s.indices = x.indices;
    s.data = x.data;
    s.n_slots = x.n_columns;
    s.may_change = x.may_change;
    for (int64_t i = 0; i < n; ++i) s.starts.push_back(x.begin(rows[i])), s.ends.push_back(x.end(rows[i]));
    return s;
}

// Features of `also` have a place too, whether or not they occur.
template <class I, class V>
Selection<float> select_copy(ThreadPool& pool, const Csr<I, V>& x, const int64_t* rows, int64_t n,
                             const std::vector<int64_t>& also = {}) {
    Selection<float> s;
    const int64_t n_entries = count_entries(x, rows, n), n_also = static_cast<int64_t>(also.size());
    FeatureSet seen(x.n_columns, n_entries + n_also);
    seen.insert(also.data(), n_also);
    auto insert = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) seen.insert(x.indices + x.begin(rows[i]), x.length(rows[i]));
    };
    if (seen.concurrent()) parallel_ranges(pool, n, 256, insert);
    else insert(0, n);
    s.columns = seen.sorted();
    s.n_slots = static_cast<int64_t>(s.columns.size());
    const FeatureLookup lookup(s.columns.data(), s.n_slots, x.n_columns);
    s.own_indices.resize(static_cast<size_t>(n_entries));
    s.own_data.resize(static_cast<size_t>(n_entries));
    int64_t at = 0;
    for (int64_t i = 0; i < n; ++i) {
        s.starts.push_back(at);
        s.ends.push_back(at += x.length(rows[i]));
    }
    parallel_ranges(pool, n, 64, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            for (int64_t k = x.begin(rows[i]), to = s.starts[i]; k < x.end(rows[i]); ++k, ++to) {
                const int32_t slot = lookup.find(load_once(x.indices + k));
                if (slot < 0) refuse_changed();
                s.own_indices[to] = slot;
                s.own_data[to] = static_cast<float>(x.data[k]);
            }
    });
    s.indices = s.own_indices.data();
    s.data = s.own_data.data();
    return s;
}

}  // namespace ramodo
