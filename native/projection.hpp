// x W for sparse and dense rows. A row's sum is taken in the order of its features and by itself, so it does not
// depend on the rows around it nor on the number of threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "activation.hpp"
#include "changed.hpp"
#include "csr.hpp"
#include "features.hpp"
#include "inner_loops.hpp"
#include "memory.hpp"
#include "threads.hpp"

namespace ramodo {

inline void gather(const int32_t* slots, const float* values, int64_t n, int64_t readable, const char* table,
                   size_t stride, uint32_t n_slots, int width, float* out) {
    if (!inner_loops().gather_float(slots, values, n, readable, table, stride, n_slots, width, out)) refuse_changed();
}
inline void gather(const int32_t* slots, const double* values, int64_t n, int64_t readable, const char* table,
                   size_t stride, uint32_t n_slots, int width, float* out) {
    if (!inner_loops().gather_double(slots, values, n, readable, table, stride, n_slots, width, out)) refuse_changed();
}
inline void forward_dense(const float* const* rows, int64_t n_rows, int64_t first, int64_t last, const float* weights,
                          int width, float* hidden) {
    inner_loops().forward_dense_float(rows, n_rows, first, last, weights, width, hidden);
}
inline void forward_dense(const double* const* rows, int64_t n_rows, int64_t first, int64_t last, const float* weights,
                          int width, float* hidden) {
    inner_loops().forward_dense_double(rows, n_rows, first, last, weights, width, hidden);
}

constexpr int64_t kDenseTile = 512;    // features whose weights stay in the cache while all rows pass over them

// hidden[r] = rows[r] @ weights, row pointers given.
template <class V>
void project_dense(const V* const* rows, int64_t n_rows, int64_t d, const float* weights, int width, float* hidden) {
    std::memset(hidden, 0, sizeof(float) * static_cast<size_t>(n_rows * width));
    for (int64_t first = 0; first < d; first += kDenseTile)
        forward_dense(rows, n_rows, first, std::min(first + kDenseTile, d), weights, width, hidden);
}

// The weights of the features that training changed; all others follow from the seed.
class Projection {
public:
    // `weights` (n x m) is kept, not copied, where its rows need no padding. Where training changed most features, the
    // others get a row too: finding out which they are would cost more than their memory.
    Projection(const int64_t* columns, const float* weights, int64_t n, int64_t d, int m, InitialWeights init)
        : m_(m), width_(padded_width(m)), d_(d), init_(init), lookup_(columns, 2 * n >= d ? d : n, d) {
        const int64_t n_rows = lookup_.size();
        if (n_rows == n && m == width_) {
            table_ = reinterpret_cast<const char*>(weights);
            return;
        }
        copy_ = Buffer(sizeof(float) * static_cast<size_t>(n_rows * width_));
        table_ = copy_.data();
        float* row = copy_.as<float>();
        for (int64_t i = 0, given = 0; i < n_rows; ++i, row += width_) {
            if (n_rows == n || (given < n && columns[given] == i))
                std::memcpy(row, weights + given++ * m, sizeof(float) * m);
            else
                inner_loops().initial_row(init_, i, m_, width_, row);
        }
    }

    int width() const { return m_; }
    int64_t n_columns() const { return d_; }

    // out[row * m] for rows [begin, end) of x.
    template <class I, class V>
    void rows(const Csr<I, V>& x, int64_t begin, int64_t end, float* out) const {
        Translated t;
        std::vector<float> sum(static_cast<size_t>(width_));
        for (int64_t first = begin; first < end;) {
            int64_t last = first;
            if constexpr (sizeof(I) == 4)
                if (lookup_.identity()) {
                    const uint32_t n_slots = x.may_change ? static_cast<uint32_t>(d_) : kUnchecked;
                    for (; last < end; ++last) {
                        const int64_t at = x.begin(last);
                        gather(reinterpret_cast<const int32_t*>(x.indices) + at, x.data + at, x.length(last),
                               x.end(end - 1) - at, table_, width_ * sizeof(float), n_slots, width_, sum.data());
                        std::memcpy(out + last * m_, sum.data(), sizeof(float) * m_);
                    }
                    return;
                }
            t.clear();
            while (last < end && (last == first || t.n_known + t.n_other + x.length(last) <= kTranslated)) translate(x, last++, t);
            emit(t, first, last, sum, out);
            first = last;
        }
    }

    // ψ(x W) of all rows, each times its factor; `slope` is that of ψ below 0.
    template <class I, class V>
    void represent(ThreadPool& pool, const Csr<I, V>& x, float slope, float* out) const {
        parallel_ranges(pool, x.n_rows, 64, [&](int64_t begin, int64_t end) {
            rows(x, begin, end, out);
            for (int64_t r = begin; r < end; ++r) activate(out + r * m_, m_, static_cast<float>(x.factor(r)), slope);
        });
    }

    // The same for `n` dense rows; `factors` may be null.
    template <class V>
    void represent(ThreadPool& pool, const V* x, int64_t n, const double* factors, float slope, float* out) const {
        std::vector<float> room;
        const float* all = all_weights(room);
        parallel_ranges(pool, n, 32, [&](int64_t begin, int64_t end) {
            std::vector<const V*> rows;
            for (int64_t r = begin; r < end; ++r) rows.push_back(x + r * d_);
            std::vector<float> hidden(static_cast<size_t>((end - begin) * width_));
            project_dense(rows.data(), end - begin, d_, all, width_, hidden.data());
            for (int64_t r = begin; r < end; ++r) {
                float* row = hidden.data() + (r - begin) * width_;
                activate(row, m_, factors ? static_cast<float>(factors[r]) : 1.0f, slope);
                std::memcpy(out + r * m_, row, sizeof(float) * m_);
            }
        });
    }

    // Dense rows need the weights of all features, in order; `room` holds them where they are not so already.
    const float* all_weights(std::vector<float>& room) const {
        if (lookup_.identity()) return reinterpret_cast<const float*>(table_);
        room.resize(static_cast<size_t>(d_ * width_));
        for (int64_t j = 0; j < d_; ++j) {
            float* row = room.data() + j * width_;
            const int32_t slot = lookup_.find(j);
            if (slot < 0) inner_loops().initial_row(init_, j, m_, width_, row);
            else std::memcpy(row, table_ + sizeof(float) * width_ * slot, sizeof(float) * width_);
        }
        return room.data();
    }

    // The weights of one feature; `room` holds them where they follow from the seed.
    const float* weights_of(int64_t column, float* room) const {
        const int32_t slot = lookup_.find(column);
        if (slot >= 0) return reinterpret_cast<const float*>(table_ + sizeof(float) * width_ * static_cast<size_t>(slot));
        inner_loops().initial_row(init_, column, m_, width_, room);
        return room;
    }

private:
    static constexpr int64_t kTranslated = 8192;

    // A stretch of rows, its features split into known ones (by place) and others (by index).
    struct Translated {
        std::vector<int32_t> slots;
        std::vector<float> values;
        std::vector<int64_t> columns;
        std::vector<float> column_values;
        std::vector<int64_t> known_ends, other_ends;
        int64_t n_known, n_other;
        void clear() {
            n_known = n_other = 0;
            known_ends.assign(1, 0), other_ends.assign(1, 0);
        }
        void make_room(int64_t n) {
            if (static_cast<int64_t>(slots.size()) >= n) return;
            slots.resize(n), values.resize(n), columns.resize(n), column_values.resize(n);
        }
    };

    template <class I, class V>
    void translate(const Csr<I, V>& x, int64_t row, Translated& t) const {
        t.make_room(t.n_known + t.n_other + x.length(row));
        for (int64_t k = x.begin(row); k < x.end(row); ++k) {
            const int64_t column = load_once(x.indices + k);
            const int32_t slot = lookup_.find(column);
            const float value = static_cast<float>(x.data[k]);
            if (slot >= 0) {
                t.slots[t.n_known] = slot;
                t.values[t.n_known++] = value;
            } else {
                t.columns[t.n_other] = column;
                t.column_values[t.n_other++] = value;
            }
        }
        t.known_ends.push_back(t.n_known);
        t.other_ends.push_back(t.n_other);
    }

    void emit(const Translated& t, int64_t first, int64_t last, std::vector<float>& sum, float* out) const {
        for (int64_t r = 0; r < last - first; ++r) {
            const int64_t known = t.known_ends[r], other = t.other_ends[r];
            gather(t.slots.data() + known, t.values.data() + known, t.known_ends[r + 1] - known, t.n_known - known,
                   table_, width_ * sizeof(float), kUnchecked, width_, sum.data());
            inner_loops().gather_initial(init_, t.columns.data() + other, t.column_values.data() + other,
                                         t.other_ends[r + 1] - other, m_, width_, sum.data());
            std::memcpy(out + (first + r) * m_, sum.data(), sizeof(float) * m_);
        }
    }

    int m_, width_;
    int64_t d_;
    InitialWeights init_;
    FeatureLookup lookup_;
    Buffer copy_;
    const char* table_ = nullptr;
};

}  // namespace ramodo
