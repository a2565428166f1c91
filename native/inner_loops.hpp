// The loops that are worth compiling for more than one instruction set, behind one table of functions that is chosen
// at run time. inner_loops_isa.cpp fills a table for each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "initial.hpp"

namespace ramodo {

constexpr int kGroup = 4;        // weight rows are padded to a multiple of this many floats

inline int padded_width(int m) { return (m + kGroup - 1) / kGroup * kGroup; }

// ADADELTA's constants (Zeiler 2012).
struct Adadelta {
    float learning_rate = 1.0f;
    float rho = 0.95f;
    float epsilon = 1e-7f;
};

// One non-zero of an active row of a batch, on its way to the gradient of its feature: which slot of its bucket, and
// which row, in one number.
struct Entry {
    uint32_t key;
    float value;
    static uint32_t make_key(uint32_t slot, uint32_t row, int shift) {
        return row << shift | (slot & ((uint32_t{1} << shift) - 1));
    }
    uint32_t slot(int shift) const { return key & ((uint32_t{1} << shift) - 1); }
    uint32_t row(int shift) const { return key >> shift; }
};

constexpr int kWidestBucket = 10;                                       // 1,024 slots
constexpr int64_t kMostBatchRows = int64_t{1} << (32 - kWidestBucket);  // what an entry can tell apart

// A feature's state in training: weights, the two accumulators, the step of its last update; one or more whole
// cache lines.
struct RecordLayout {
    int width;        // padded M
    size_t bytes;     // of a record
    explicit RecordLayout(int m) : width(padded_width(m)), bytes((3 * width * sizeof(float) + 4 + 63) / 64 * 64) {}
    float* weights(char* record) const { return reinterpret_cast<float*>(record); }
    uint32_t& last_step(char* record) const { return *reinterpret_cast<uint32_t*>(weights(record) + 3 * width); }
};

constexpr int kDenseFeatures = 16;   // features whose gradient is summed together: a cache line of each dense row

struct SparseUpdate {
    RecordLayout layout;
    char* records;
    const float* deltas;          // loss gradient of each row's hidden layer, width apart
    Adadelta adadelta;
    const float* powers;          // rho^k
    uint32_t n_powers;
    uint32_t step;                // from 1
    int shift;                    // a bucket is 2^shift slots
    int32_t* local;               // scratch: slot within the bucket -> place in `touched`, -1 outside of a call
    uint32_t* touched;            // scratch: slots within the bucket
    float* sums;                  // scratch: gradient of each touched feature
};

constexpr uint32_t kUnchecked = UINT32_MAX;

struct InnerLoops {
    const char* name;
    // y += a * x
    void (*add_scaled)(int64_t n, double a, const double* x, double* y);
    // sum of squares
    double (*squared_norm_float)(const float* x, int64_t n);
    double (*squared_norm_double)(const double* x, int64_t n);
    // out = sum_k values[k] * table[slots[k]]; slots[n .. readable) may be looked at to fetch ahead. False where a slot
    // is not in [0, n_slots): then out means nothing. With kUnchecked slots are not looked at.
    bool (*gather_float)(const int32_t* slots, const float* values, int64_t n, int64_t readable, const char* table,
                         size_t stride, uint32_t n_slots, int width, float* out);
    bool (*gather_double)(const int32_t* slots, const double* values, int64_t n, int64_t readable, const char* table,
                          size_t stride, uint32_t n_slots, int width, float* out);
    // sums[slot] += values[k] * (table[slot] · q) with slot = slots[k], or k where slots is null; rows of `stride` floats.
    void (*add_products)(const int32_t* slots, const double* values, int64_t n, const float* table, int stride,
                         const double* q, double* sums);
    // The first place from `at` on whose absolute value reaches the limit, or n.
    int64_t (*find_reaching)(const double* values, int64_t at, int64_t n, double limit);
    // out += sum_k values[k] * initial weights of columns[k]
    void (*gather_initial)(const InitialWeights& init, const int64_t* columns, const float* values, int64_t n, int m,
                           int width, float* out);
    void (*initial_row)(const InitialWeights& init, int64_t column, int m, int width, float* out);
    // Gradients and ADADELTA steps of the features in buckets [first, last); bucket b has entries [starts[b], starts[b + 1]).
    void (*update_sparse)(const Entry* entries, const int64_t* starts, int64_t first, int64_t last,
                          const SparseUpdate& update);
    // hidden[r] += x[rows[r], first .. last) @ weights[first .. last)
    void (*forward_dense_float)(const float* const* rows, int64_t n_rows, int64_t first, int64_t last,
                                const float* weights, int width, float* hidden);
    void (*forward_dense_double)(const double* const* rows, int64_t n_rows, int64_t first, int64_t last,
                                 const float* weights, int width, float* hidden);
    // The gradient of features [first, last) over all rows, and their ADADELTA step. `decay` = rho^(steps skipped);
    // `scratch` holds kDenseFeatures * width floats.
    void (*update_dense_float)(const float* const* rows, const float* const* deltas, int64_t n_rows, int64_t first,
                               int64_t last, float* weights, float* accumulators, int width, const Adadelta& adadelta,
                               float decay, float* scratch);
    void (*update_dense_double)(const double* const* rows, const float* const* deltas, int64_t n_rows, int64_t first,
                                int64_t last, float* weights, float* accumulators, int width, const Adadelta& adadelta,
                                float decay, float* scratch);
    // The squared distances of a row of m floats to one subsample of those below.
    void (*distances_small)(const float* row, int m, const double* references, int64_t lanes, double* squared);
    // Products of four rows of m doubles with one subsample of references laid out [m][lanes]: products[row][lanes].
    void (*products_wide)(const double* rows, int64_t m, const double* references, int64_t lanes, double* products);
    // Sp in the representation: rows of m floats against references laid out [subsample][m][lanes], lanes a multiple
    // of 4; `scratch` holds `lanes` doubles.
    void (*score_small)(const float* rows, int64_t n_rows, int m, const double* references, int64_t n_subsamples,
                        int64_t lanes, double* scratch, double* scores);
};

const InnerLoops& inner_loops();

}  // namespace ramodo
