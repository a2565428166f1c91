// Which rows are equal, bit for bit: what depends on a row alone need be computed for one of them only. Lines of logs and
// one-hot rows repeat ten times and more.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hash_key.hpp"
#include "threads.hpp"

namespace ramodo {

struct Bytes {
    const unsigned char* at;
    size_t n;
};

// The arrays that a row consists of: features and values, or values alone.
using RowBytes = std::array<Bytes, 2>;

// Of long rows 32 words are looked at, evenly spaced: rows of thousands of features seldom repeat, and need not be read.
inline uint64_t hash_bytes(const HashKey& key, uint64_t hash, Bytes bytes) {
    const size_t n_words = bytes.n / 4, looked_at = std::min<size_t>(n_words, 32);
    hash = key(static_cast<int64_t>(hash ^ bytes.n));
    for (size_t i = 0; i < looked_at; ++i) {
        uint32_t word;
        std::memcpy(&word, bytes.at + 4 * (n_words - 1 - i * n_words / looked_at), 4);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return key(static_cast<int64_t>(hash));
}

inline bool equal_bytes(const RowBytes& a, const RowBytes& b) {
    for (size_t i = 0; i < 2; ++i)
        if (a[i].n != b[i].n || (a[i].n && std::memcmp(a[i].at, b[i].at, a[i].n) != 0)) return false;
    return true;
}

// first[row]: the first row that equals it. Rows that only share the words that are looked at are compared with four
// others at most; beyond that a row counts as different, so that nobody can make this cost n^2.
template <class BytesOf>
void first_equal(ThreadPool& pool, int64_t n_rows, const BytesOf& bytes_of, int64_t* first) {
    const HashKey& key = HashKey::of_process();
    std::vector<uint64_t> hashes(static_cast<size_t>(n_rows));
    parallel_ranges(pool, n_rows, 256, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const RowBytes bytes = bytes_of(row);
            hashes[static_cast<size_t>(row)] = hash_bytes(key, hash_bytes(key, 0, bytes[0]), bytes[1]);
        }
    });
    uint64_t capacity = 32;
    while (capacity < 2 * static_cast<uint64_t>(n_rows)) capacity *= 2;
    std::vector<int64_t> table(capacity, -1);
    for (int64_t row = 0; row < n_rows; ++row) {
        const uint64_t hash = hashes[static_cast<size_t>(row)];
        uint64_t at = hash & (capacity - 1);
        int compared = 0;
        for (; table[at] >= 0 && compared < 4; at = (at + 1) & (capacity - 1)) {
            if (hashes[static_cast<size_t>(table[at])] != hash) continue;
            if (equal_bytes(bytes_of(table[at]), bytes_of(row))) break;
            ++compared;
        }
        first[row] = table[at] >= 0 && compared < 4 ? table[at] : row;
        if (table[at] < 0) table[at] = row;
    }
}

}  // namespace ramodo
