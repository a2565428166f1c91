// Indices that all fall on one place of a table without a key, in tables with several keys: prints the key's name, how
// many indices there are, the steps to find each once, and a digest of what was found.
#include <cstdio>
#include <cstdlib>

#include "features.hpp"

using namespace ramodo;

// The only number that splitmix64 makes `hash` of.
static uint64_t unmixed(uint64_t hash) {
    auto inverse = [](uint64_t odd) {
        uint64_t x = odd;
        for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
        return x;
    };
    auto unshift = [](uint64_t x, int by) { return x ^ (x >> by) ^ (2 * by < 64 ? x >> (2 * by) : 0); };
    hash = unshift(hash, 31) * inverse(0x94D049BB133111EBull);
    hash = unshift(hash, 27) * inverse(0xBF58476D1CE4E5B9ull);
    return unshift(hash, 30) - 0x9E3779B97F4A7C15ull;
}

// `n` positive numbers whose hashes end in the same 24 bits.
static std::vector<int64_t> chosen(size_t n) {
    std::vector<int64_t> found;
    for (uint64_t high = 0; found.size() < n; ++high) {
        const uint64_t column = unmixed(high << 24);
        if (splitmix64(column) != high << 24) std::abort();
        if (column >> 63 == 0) found.push_back(static_cast<int64_t>(column));
    }
    return found;
}

static void report(const char* name, const std::vector<int64_t>& columns, const HashKey& key) {
    HashTable table(16, key);
    for (size_t i = 0; i < columns.size(); ++i) table.insert(columns[i], static_cast<int32_t>(i));
    uint64_t digest = 0;
    for (int64_t column : columns) digest = splitmix64(digest) + static_cast<uint64_t>(table.find(column));
    std::printf("%s %zu %lld %llu\n", name, columns.size(), static_cast<long long>(table.steps()),
                static_cast<unsigned long long>(digest));
}

int main() {
    for (size_t n : {2000, 16000}) {
        const std::vector<int64_t> columns = chosen(n);
        report("none", columns, HashKey(0, 1));
        report("process", columns, HashKey::of_process());
        report("fixed", columns, HashKey(12345, 678901234567));
        FeatureSet set(INT64_MAX, static_cast<int64_t>(n));
        set.insert(columns.data(), static_cast<int64_t>(n));
        report("sorted", set.sorted(), HashKey::of_process());
    }
}
