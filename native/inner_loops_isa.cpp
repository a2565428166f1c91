// Compiled once per instruction set, with RAMODO_ISA naming it. Uses no inline function of the standard library: the
// linker could otherwise let a baseline caller run a copy compiled for a newer machine.
#include <math.h>      // not <cmath>, whose functions are inline

#include "inner_loops.hpp"
#include "lanes.hpp"

namespace ramodo {
namespace RAMODO_ISA {

constexpr int64_t kAhead = 64;             // non-zeros between asking for a weight row and using it
constexpr float kTiny = 1e-35f;            // accumulators below are zero: subnormal numbers are slow and change nothing

void add_scaled(int64_t n, double a, const double* __restrict x, double* __restrict y) {
    for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

// Eight at a time: one running sum would wait for each addition.
template <class V>
double squared_norm(const V* x, int64_t n) {
    constexpr int kSums = 8;
    double sums[kSums] = {};
    int64_t k = 0;
    for (; k + kSums <= n; k += kSums)
        for (int i = 0; i < kSums; ++i) sums[i] += static_cast<double>(x[k + i]) * static_cast<double>(x[k + i]);
    for (; k < n; ++k) sums[0] += static_cast<double>(x[k]) * static_cast<double>(x[k]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// ---- initial weights -------------------------------------------------------------------------------------------

// Four consecutive weights of a feature, the first of them number `first`.
RAMODO_INLINE f4 initial_group(uint64_t key, int first, float limit) {
    const u4 lane = {0, 1, 2, 3};
    u4 x = (lane + static_cast<uint32_t>(first)) * 0x9E3779B9u + static_cast<uint32_t>(key);
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x += static_cast<uint32_t>(key >> 32);
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    x ^= x >> 16;
    return floats(as_signed(x)) * (limit * 0x1p-31f);
}

// Weights of one feature; those past m (the padding) are zero.
inline void initial_row(const InitialWeights& init, int64_t column, int m, int width, float* out) {
    const uint64_t key = init.key(column);
    for (int first = 0; first < width; first += kGroup)
        *reinterpret_cast<f4*>(out + first) = initial_group(key, first, init.limit);
    for (int i = m; i < width; ++i) out[i] = 0;
}

// ---- sparse rows -----------------------------------------------------------------------------------------------

template <int C>
RAMODO_INLINE void fetch(const char* row) {
    // Into the second-level cache: it takes more requests at a time than the first, and that is what limits gathers.
    for (size_t line = 0; line + 64 <= 4 * C * sizeof(float); line += 64) RAMODO_FETCH(row + line, 0, 2);
    RAMODO_FETCH(row + (4 * C * sizeof(float) - 1), 0, 2);
}

// Slots may be indices of mapped rows: each is loaded once, compared, and then used (changed.hpp).
template <int C, bool Checked, class V>
RAMODO_INLINE bool gather_panel(const int32_t* slots, const V* values, int64_t n, int64_t readable, const char* table,
                                size_t stride, uint32_t n_slots, float* out) {
    Lanes<C> sum;
    sum.clear();
    const int64_t covered = readable - kAhead < n ? readable - kAhead : n;
    int64_t k = 0;
    for (; k < covered; ++k) {
        fetch<C>(table + stride * static_cast<uint32_t>(slots[k + kAhead]));
        const uint32_t slot = load_once(reinterpret_cast<const uint32_t*>(slots) + k);
        if (Checked && slot >= n_slots) return false;
        sum.add_scaled(static_cast<float>(values[k]), reinterpret_cast<const float*>(table + stride * slot));
    }
    for (; k < n; ++k) {
        const uint32_t slot = load_once(reinterpret_cast<const uint32_t*>(slots) + k);
        if (Checked && slot >= n_slots) return false;
        sum.add_scaled(static_cast<float>(values[k]), reinterpret_cast<const float*>(table + stride * slot));
    }
    sum.store(out);
    return true;
}

template <bool Checked, class V>
RAMODO_INLINE bool gather_panels(const int32_t* slots, const V* values, int64_t n, int64_t readable, const char* table,
                                 size_t stride, uint32_t n_slots, int width, float* out) {
    bool inside = true;
    for_panels(width, [&](auto groups, int first) {
        inside &= gather_panel<decltype(groups)::value, Checked>(slots, values, n, readable, table + first * sizeof(float),
                                                                 stride, n_slots, out + first);
    });
    return inside;
}

template <class V>
bool gather(const int32_t* slots, const V* values, int64_t n, int64_t readable, const char* table, size_t stride,
            uint32_t n_slots, int width, float* out) {
    if (n_slots == kUnchecked) return gather_panels<false>(slots, values, n, readable, table, stride, n_slots, width, out);
    return gather_panels<true>(slots, values, n, readable, table, stride, n_slots, width, out);
}

constexpr int64_t kSlotsAhead = 16;

// C groups of four at `first`; a wider row takes several calls.
template <int C>
RAMODO_INLINE void add_products_panel(const int32_t* slots, const double* values, int64_t n, const float* table, int stride,
                                      const double* q, double* sums) {
    d4 factors[C];
    for (int g = 0; g < C; ++g) factors[g] = *reinterpret_cast<const d4*>(q + kGroup * g);
    for (int64_t k = 0; k < n; ++k) {
        if (slots && k + kSlotsAhead < n) {
            const int64_t next = slots[k + kSlotsAhead];
            const char* row = reinterpret_cast<const char*>(table + stride * next);
            for (size_t line = 0; line < kGroup * C * sizeof(float); line += 64) RAMODO_FETCH(row + line, 0, 3);
            RAMODO_FETCH(sums + next, 1, 3);
        }
        const int64_t slot = slots ? slots[k] : k;
        const float* w = table + stride * slot;
        d4 sum = {};
        for (int g = 0; g < C; ++g) sum += doubles(*reinterpret_cast<const f4*>(w + kGroup * g)) * factors[g];
        sums[slot] += values[k] * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

void add_products(const int32_t* slots, const double* values, int64_t n, const float* table, int stride, const double* q,
                  double* sums) {
    for_panels(stride, [&](auto groups, int first) {
        add_products_panel<decltype(groups)::value>(slots, values, n, table + first, stride, q + first, sums);
    });
}

int64_t find_reaching(const double* values, int64_t at, int64_t n, double limit) {
#if RAMODO_GNU
    constexpr int kTogether = 16;
    for (; at + kTogether <= n; at += kTogether) {
        const d4* v = reinterpret_cast<const d4*>(values + at);
        auto any = (v[0] >= limit) | (-v[0] >= limit);
        for (int i = 1; i < kTogether / 4; ++i) any |= (v[i] >= limit) | (-v[i] >= limit);
        if (any[0] | any[1] | any[2] | any[3]) break;
    }
#endif
    while (at < n && !(values[at] >= limit || -values[at] >= limit)) ++at;
    return at;
}

void gather_initial(const InitialWeights& init, const int64_t* columns, const float* values, int64_t n, int m,
                    int width, float* out) {
    for_panels(width, [&](auto groups, int first) {
        constexpr int C = decltype(groups)::value;
        f4 sums[C];
        for (int g = 0; g < C; ++g) sums[g] = *reinterpret_cast<const f4*>(out + first + 4 * g);
        for (int64_t k = 0; k < n; ++k) {
            const uint64_t key = init.key(columns[k]);
            for (int g = 0; g < C; ++g) sums[g] += values[k] * initial_group(key, first + 4 * g, init.limit);
        }
        for (int g = 0; g < C; ++g) *reinterpret_cast<f4*>(out + first + 4 * g) = sums[g];
    });
    for (int i = m; i < width; ++i) out[i] = 0;
}

// ---- ADADELTA --------------------------------------------------------------------------------------------------

// One step for `n` weights with gradient g: equations of Zeiler 2012, algorithm 1. With g = 0 the weight stays and
// both accumulators shrink by rho, which is why steps without gradient can be made up for later by `decay`.
RAMODO_INLINE void adadelta_step(int n, const float* __restrict g, float* __restrict w, float* __restrict gradients,
                                 float* __restrict changes, const Adadelta& c, float decay) {
    const float rho = c.rho, rest = 1 - c.rho, epsilon = c.epsilon, rate = c.learning_rate;
    for (int i = 0; i < n; ++i) {
        const float gradient = rho * (decay * gradients[i]) + rest * g[i] * g[i];
        const float change = decay * changes[i];
        const float step = g[i] * sqrtf((change + epsilon) / (gradient + epsilon));
        const float next = rho * change + rest * step * step;
        w[i] -= rate * step;
        gradients[i] = gradient < kTiny ? 0.0f : gradient;
        changes[i] = next < kTiny ? 0.0f : next;
    }
}

RAMODO_INLINE void fetch_record(const SparseUpdate& u, const char* records, const Entry& entry) {
    const char* record = records + u.layout.bytes * entry.slot(u.shift);
    for (size_t line = 0; line < u.layout.bytes; line += 64) RAMODO_FETCH(record + line, 1, 2);
}

// Adds up the gradient of each feature of a bucket, row after row; returns how many features there are. They are
// numbered in the order of first touch, so that their sums lie side by side. C = 0: wider than a panel.
template <int C>
RAMODO_INLINE uint32_t sum_bucket(const Entry* entries, int64_t n, const SparseUpdate& u) {
    const int width = C ? 4 * C : u.layout.width;
    uint32_t n_touched = 0;
    for (int64_t k = 0; k < n; ++k) {
        const uint32_t slot = entries[k].slot(u.shift);
        int32_t& place = u.local[slot];
        const bool fresh = place < 0;
        if (fresh) {
            u.touched[n_touched] = slot;
            place = static_cast<int32_t>(n_touched++);
        }
        float* __restrict sum = u.sums + static_cast<size_t>(place) * width;
        const float* __restrict delta = u.deltas + static_cast<size_t>(entries[k].row(u.shift)) * width;
        if constexpr (C > 0) {
            Lanes<C> lanes;
            if (fresh) lanes.clear();
            else lanes.load(sum);
            lanes.add_scaled(entries[k].value, delta);
            lanes.store(sum);
        } else {
            for (int i = 0; i < width; ++i) sum[i] = (fresh ? 0.0f : sum[i]) + entries[k].value * delta[i];
        }
    }
    return n_touched;
}

// Their steps, while the records of the next bucket's entries are on their way.
template <int C>
RAMODO_INLINE void step_bucket(uint32_t n_touched, char* records, const Entry* next, const Entry* next_end,
                               const SparseUpdate& u) {
    const int width = C ? 4 * C : u.layout.width;
    const char* next_records = records + (u.layout.bytes << u.shift);
    for (uint32_t t = 0; t < n_touched; ++t) {
        if (next < next_end) fetch_record(u, next_records, *next++);
        char* record = records + u.layout.bytes * u.touched[t];
        uint32_t& last = u.layout.last_step(record);
        const uint32_t skipped = last ? u.step - last - 1 : 0;
        float* w = u.layout.weights(record);
        adadelta_step(width, u.sums + static_cast<size_t>(t) * width, w, w + width, w + 2 * width, u.adadelta,
                      skipped < u.n_powers ? u.powers[skipped] : 0.0f);
        last = u.step;
        u.local[u.touched[t]] = -1;
    }
    while (next < next_end) fetch_record(u, next_records, *next++);
}

template <int C>
RAMODO_INLINE void update_buckets(const Entry* entries, const int64_t* starts, int64_t first, int64_t last,
                                  const SparseUpdate& u) {
    for (int64_t b = first; b < last; ++b) {
        const uint32_t n_touched = sum_bucket<C>(entries + starts[b], starts[b + 1] - starts[b], u);
        step_bucket<C>(n_touched, u.records + (u.layout.bytes << u.shift) * static_cast<size_t>(b),
                       entries + starts[b + 1], entries + starts[b + 1 < last ? b + 2 : b + 1], u);
    }
}

void update_sparse(const Entry* entries, const int64_t* starts, int64_t first, int64_t last, const SparseUpdate& u) {
    if (u.layout.width > kGroup * kMaxGroups) return update_buckets<0>(entries, starts, first, last, u);
    for_panels(u.layout.width, [&](auto groups, int) {
        update_buckets<decltype(groups)::value>(entries, starts, first, last, u);
    });
}

// ---- dense rows ------------------------------------------------------------------------------------------------

template <int C, int R, class V>
RAMODO_INLINE void forward_block(const V* const* rows, int64_t first, int64_t last, const float* weights, int width,
                                 float* hidden) {
    Lanes<C> sums[R];
    for (int r = 0; r < R; ++r) sums[r].load(hidden + r * width);
    for (int64_t j = first; j < last; ++j) {
        Lanes<C> w;
        w.load(weights + j * width);
        for (int r = 0; r < R; ++r) sums[r].add_scaled(static_cast<float>(rows[r][j]), w);
    }
    for (int r = 0; r < R; ++r) sums[r].store(hidden + r * width);
}

template <class V>
void forward_dense(const V* const* rows, int64_t n_rows, int64_t first, int64_t last, const float* weights, int width,
                   float* hidden) {
    for_panels(width, [&](auto groups, int panel) {
        constexpr int C = decltype(groups)::value;
        constexpr int R = C <= 6 ? 4 : 2;
        int64_t r = 0;
        for (; r + R <= n_rows; r += R)
            forward_block<C, R>(rows + r, first, last, weights + panel, width, hidden + r * width + panel);
        for (; r < n_rows; ++r)
            forward_block<C, 1>(rows + r, first, last, weights + panel, width, hidden + r * width + panel);
    });
}

template <int C, int F, class V>
RAMODO_INLINE void gradient_block(const V* const* rows, const float* const* deltas, int64_t n_rows, int64_t feature,
                                  int panel, int width, float* sums) {
    Lanes<C> lanes[F];
    for (int f = 0; f < F; ++f) lanes[f].clear();
    for (int64_t r = 0; r < n_rows; ++r) {
        Lanes<C> delta;
        delta.load(deltas[r] + panel);
        for (int f = 0; f < F; ++f) lanes[f].add_scaled(static_cast<float>(rows[r][feature + f]), delta);
    }
    for (int f = 0; f < F; ++f) lanes[f].store(sums + f * width + panel);
}

template <class V>
void update_dense(const V* const* rows, const float* const* deltas, int64_t n_rows, int64_t first, int64_t last,
                  float* weights, float* accumulators, int width, const Adadelta& adadelta, float decay,
                  float* sums) {
    for (int64_t start = first; start < last; start += kDenseFeatures) {
        const int count = static_cast<int>(last - start < kDenseFeatures ? last - start : kDenseFeatures);
        for_panels(width, [&](auto groups, int panel) {
            constexpr int C = decltype(groups)::value;
            constexpr int F = C <= 6 ? 4 : 2;
            int f = 0;
            for (; f + F <= count; f += F)
                gradient_block<C, F>(rows, deltas, n_rows, start + f, panel, width, sums + f * width);
            for (; f < count; ++f)
                gradient_block<C, 1>(rows, deltas, n_rows, start + f, panel, width, sums + f * width);
        });
        for (int f = 0; f < count; ++f) {
            float* own = accumulators + (start + f) * 2 * width;
            adadelta_step(width, sums + f * width, weights + (start + f) * width, own, own + width, adadelta, decay);
        }
    }
}

// ---- Sp in the representation ----------------------------------------------------------------------------------

RAMODO_INLINE double smallest(const d4& v) {
    double a = v[0] < v[1] ? v[0] : v[1];
    double b = v[2] < v[3] ? v[2] : v[3];
    return a < b ? a : b;
}

// Subsamples of eight, the paper's size: all squared distances stay in registers.
RAMODO_INLINE double nearest_of_eight(const float* row, int m, const double* references) {
    d4 low{}, high{};
    for (int i = 0; i < m; ++i, references += 8) {
        const double x = row[i];
        const d4 a = x - *reinterpret_cast<const d4*>(references);
        const d4 b = x - *reinterpret_cast<const d4*>(references + 4);
        low += a * a;
        high += b * b;
    }
    const double a = smallest(low), b = smallest(high);
    return a < b ? a : b;
}

// Products of four rows of doubles, m apart, with four or eight references at a time. A row's products do not depend on
// the rows beside it.
template <int G>
RAMODO_INLINE void products_of_four(const double* rows, int64_t m, const double* references, int64_t lanes, double* products) {
    d4 sums[4][G] = {};
    for (int64_t i = 0; i < m; ++i, references += lanes)
        for (int g = 0; g < G; ++g) {
            const d4 s = *reinterpret_cast<const d4*>(references + 4 * g);
            for (int r = 0; r < 4; ++r) sums[r][g] += rows[r * m + i] * s;
        }
    for (int r = 0; r < 4; ++r)
        for (int g = 0; g < G; ++g) *reinterpret_cast<d4*>(products + r * lanes + 4 * g) = sums[r][g];
}

void products_wide(const double* rows, int64_t m, const double* references, int64_t lanes, double* products) {
    int64_t first = 0;
    for (; first + 8 <= lanes; first += 8) products_of_four<2>(rows, m, references + first, lanes, products + first);
    if (first < lanes) products_of_four<1>(rows, m, references + first, lanes, products + first);
}

void distances_small(const float* row, int m, const double* references, int64_t lanes, double* __restrict squared) {
    for (int64_t l = 0; l < lanes; ++l) squared[l] = 0;
    for (int i = 0; i < m; ++i, references += lanes) {
        const double x = row[i];
        for (int64_t l = 0; l < lanes; ++l) squared[l] += (x - references[l]) * (x - references[l]);
    }
}

RAMODO_INLINE double nearest_of_many(const float* row, int m, const double* references, int64_t lanes, double* scratch) {
    distances_small(row, m, references, lanes, scratch);
    double best = scratch[0];
    for (int64_t l = 1; l < lanes; ++l) best = scratch[l] < best ? scratch[l] : best;
    return best;
}

void score_small(const float* rows, int64_t n_rows, int m, const double* references, int64_t n_subsamples,
                 int64_t lanes, double* scratch, double* scores) {
    for (int64_t r = 0; r < n_rows; ++r) {
        const float* row = rows + r * m;
        double total = 0;
        for (int64_t s = 0; s < n_subsamples; ++s) {
            const double* subsample = references + s * m * lanes;
            total += sqrt(lanes == 8 ? nearest_of_eight(row, m, subsample)
                                               : nearest_of_many(row, m, subsample, lanes, scratch));
        }
        scores[r] = total / static_cast<double>(n_subsamples);
    }
}

#define RAMODO_STRING_(x) #x
#define RAMODO_STRING(x) RAMODO_STRING_(x)

extern const InnerLoops table;
const InnerLoops table = {
    RAMODO_STRING(RAMODO_ISA), add_scaled, squared_norm<float>, squared_norm<double>, gather<float>, gather<double>, add_products, find_reaching, gather_initial, initial_row, update_sparse,
    forward_dense<float>, forward_dense<double>, update_dense<float>, update_dense<double>, distances_small, products_wide, score_small,
};

}  // namespace RAMODO_ISA
}  // namespace ramodo
