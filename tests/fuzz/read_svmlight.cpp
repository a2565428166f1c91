// The native reader of svmlight text under libFuzzer, which follows what the code does with an input: clang's sanitizers
// stop it at the first byte read or written out of place. `make fuzz` builds and runs it.
#include <cstdlib>
#include <memory>

#include "svmlight.hpp"

using namespace ramodo;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n_bytes) {
    static ThreadPool pool(2);
    const std::unique_ptr<char[]> text(new char[n_bytes]);    // of its own, so that its end is watched
    std::copy(bytes, bytes + n_bytes, text.get());
    const std::vector<SvmPart> parts = count_svmlight(pool, text.get(), static_cast<int64_t>(n_bytes));
    size_t n_rows = 0, n_entries = 0;
    for (const SvmPart& part : parts) n_rows += static_cast<size_t>(part.n_rows), n_entries += static_cast<size_t>(part.n_entries);
    const std::unique_ptr<double[]> labels(new double[n_rows]), values(new double[n_entries]);
    const std::unique_ptr<int64_t[]> lengths(new int64_t[n_rows]), wide(new int64_t[n_entries]);
    const std::unique_ptr<int32_t[]> narrow(new int32_t[n_entries]);
    const SvmFound found = read_svmlight(pool, text.get(), parts, labels.get(), lengths.get(), narrow.get(), values.get());
    const SvmFound again = read_svmlight(pool, text.get(), parts, labels.get(), lengths.get(), wide.get(), values.get());
    if (found.error != again.error) std::abort();
    if (found.error != SvmError::none) return 0;
    int64_t total = 0;
    for (size_t r = 0; r < n_rows; ++r) total += lengths[r];
    if (total != static_cast<int64_t>(n_entries)) std::abort();
    for (size_t k = 0; k < n_entries; ++k)
        if (wide[k] < found.smallest || wide[k] > found.largest || !std::isfinite(values[k])) std::abort();
    return 0;
}
