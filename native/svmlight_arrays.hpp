// svmlight text to arrays that are as narrow as its numbers allow: indices of four bytes where they fit, values of four
// bytes where nothing is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "svmlight.hpp"
#include "threads.hpp"

namespace ramodo {

struct SvmArrays {
    SvmFound found;
    size_t n_rows = 0, n_entries = 0;
    std::unique_ptr<double[]> labels;
    std::unique_ptr<int64_t[]> lengths;
    std::unique_ptr<int32_t[]> narrow;      // indices, or
    std::unique_ptr<int64_t[]> wide;
    std::unique_ptr<float[]> single;        // values, or
    std::unique_ptr<double[]> values;
};

// Where the text has an error, `found` says so and the arrays mean nothing.
inline SvmArrays read_svmlight_arrays(ThreadPool& pool, const char* text, int64_t n_bytes) {
    SvmArrays a;
    const std::vector<SvmPart> parts = count_svmlight(pool, text, n_bytes);
    for (const SvmPart& part : parts) {
        a.n_rows += static_cast<size_t>(part.n_rows);
        a.n_entries += static_cast<size_t>(part.n_entries);
    }
    a.labels.reset(new double[a.n_rows]);
    a.lengths.reset(new int64_t[a.n_rows]);
    a.narrow.reset(new int32_t[a.n_entries]);
    a.values.reset(new double[a.n_entries]);
    a.found = read_svmlight(pool, text, parts, a.labels.get(), a.lengths.get(), a.narrow.get(), a.values.get());
    if (a.found.error == SvmError::none && a.found.largest > INT32_MAX) {
        a.narrow.reset();
        a.wide.reset(new int64_t[a.n_entries]);
        a.found = read_svmlight(pool, text, parts, a.labels.get(), a.lengths.get(), a.wide.get(), a.values.get());
    }
    if (a.found.error == SvmError::none && a.found.single) {
        a.single.reset(new float[a.n_entries]);
        parallel_ranges(pool, static_cast<int64_t>(a.n_entries), 1 << 16, [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) a.single[k] = static_cast<float>(a.values[k]);
        });
        a.values.reset();
    }
    return a;
}

}  // namespace ramodo
