// Which features occur, and where a feature's weights are. Both follow the features seen, not D: a bitmap where D is
// of the order of the data, a hash table where it is not (hashed text, D = 10^12).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "changed.hpp"
#include "hash_key.hpp"
#include "threads.hpp"

namespace ramodo {

// A bit for each of D features is affordable: a fraction of a byte for each of the `n` entries at hand.
inline bool bitmap_is_small(int64_t d, int64_t n) {
    return d <= std::max<int64_t>(int64_t{1} << 23, n < (int64_t{1} << 40) ? 64 * n : n);
}

// Open addressing over feature indices; a feature's place never moves except when the table grows. Places differ from
// process to process: nothing that leaves this file may follow their order.
class HashTable {
public:
    explicit HashTable(int64_t expected = 16, HashKey hash = HashKey::of_process()) : hash_(hash) { reserve(expected); }

    int64_t size() const { return size_; }
    const std::vector<int64_t>& keys() const { return keys_; }

    // Places beyond the first that finding each feature once looks at.
    int64_t steps() const {
        uint64_t total = 0;
        for (size_t at = 0; at < keys_.size(); ++at)
            if (keys_[at] != -1) total += (at - hash_(keys_[at])) & mask_;
        return static_cast<int64_t>(total);
    }

    void insert(int64_t column, int32_t value) { find_or_insert(column, value); }
    int32_t find(int64_t column) const {
        uint64_t at = place(column);
        return keys_[at] == column ? values_[at] : -1;
    }
    // The value of a feature, which is `value` where it has none yet.
    int32_t find_or_insert(int64_t column, int32_t value) {
        if (2 * (size_ + 1) > static_cast<int64_t>(keys_.size())) grow();
        const uint64_t at = place(column);
        if (keys_[at] == column) return values_[at];
        keys_[at] = column;
        ++size_;
        return values_[at] = value;
    }

private:
    void reserve(int64_t expected) {
        uint64_t capacity = 32;
        while (static_cast<int64_t>(capacity) < 2 * expected) capacity *= 2;
        keys_.assign(capacity, -1);
        values_.assign(capacity, -1);
        mask_ = capacity - 1;
        size_ = 0;
    }
    uint64_t place(int64_t column) const {
        uint64_t at = hash_(column) & mask_;
        while (keys_[at] != -1 && keys_[at] != column) at = (at + 1) & mask_;
        return at;
    }
    void grow() {
        std::vector<int64_t> keys = std::move(keys_);
        std::vector<int32_t> values = std::move(values_);
        reserve(static_cast<int64_t>(keys.size()));
        for (size_t i = 0; i < keys.size(); ++i)
            if (keys[i] != -1) insert(keys[i], values[i]);
    }

    std::vector<int64_t> keys_;
    std::vector<int32_t> values_;
    HashKey hash_;
    uint64_t mask_ = 0;
    int64_t size_ = 0;
};

// The distinct features of the rows fed to it.
class FeatureSet {
public:
    FeatureSet(int64_t d, int64_t n_entries) : d_(static_cast<uint64_t>(d)), dense_(bitmap_is_small(d, n_entries)) {
        if (dense_) words_ = std::vector<std::atomic<uint64_t>>((d + 63) / 64);
    }
    FeatureSet(const FeatureSet&) = delete;

    // Safe to call from several threads where concurrent() is true. Features must be in [0, D).
    template <class I>
    void insert(const I* columns, int64_t n) {
        const uint64_t d = d_;
        if (!dense_) {
            for (int64_t k = 0; k < n; ++k) {
                const int64_t column = load_once(columns + k);
                if (static_cast<uint64_t>(column) >= d) refuse_changed();
                table_.insert(column, 0);
            }
            return;
        }
        std::atomic<uint64_t>* words = words_.data();
        for (int64_t k = 0; k < n; ++k) {
            const uint64_t column = static_cast<uint64_t>(load_once(columns + k));
            if (column >= d) refuse_changed();
            const uint64_t bit = uint64_t{1} << (column & 63);
            auto& word = words[column >> 6];
            if (!(word.load(std::memory_order_relaxed) & bit)) word.fetch_or(bit, std::memory_order_relaxed);
        }
    }
    bool concurrent() const { return dense_; }

    int64_t count() const {
        if (!dense_) return table_.size();
        int64_t total = 0;
        for (const auto& word : words_) total += count_bits(word.load(std::memory_order_relaxed));
        return total;
    }
    std::vector<int64_t> sorted() const {
        std::vector<int64_t> columns;
        columns.reserve(static_cast<size_t>(count()));
        if (dense_) {
            for (size_t w = 0; w < words_.size(); ++w)
                for (uint64_t bits = words_[w].load(std::memory_order_relaxed); bits; bits &= bits - 1)
                    columns.push_back(static_cast<int64_t>(w * 64) + lowest_bit(bits));
        } else {
            for (int64_t column : table_.keys())
                if (column != -1) columns.push_back(column);
            std::sort(columns.begin(), columns.end());
        }
        return columns;
    }

private:
    uint64_t d_;
    bool dense_;
    std::vector<std::atomic<uint64_t>> words_;
    HashTable table_;
};

// Feature index -> its rank among sorted `columns`, or -1; any index may be asked for.
class FeatureLookup {
public:
    FeatureLookup(const int64_t* columns, int64_t n, int64_t d)
        : n_(n), d_(static_cast<uint64_t>(d)), identity_(n == d), dense_(!identity_ && bitmap_is_small(d, n)), table_(dense_ || identity_ ? 0 : n) {
        if (identity_) return;
        if (!dense_) {
            for (int64_t i = 0; i < n; ++i) table_.insert(columns[i], static_cast<int32_t>(i));
            return;
        }
        words_.assign((d + 63) / 64, 0);
        ranks_.resize(words_.size());
        for (int64_t i = 0; i < n; ++i) words_[columns[i] >> 6] |= uint64_t{1} << (columns[i] & 63);
        int32_t rank = 0;
        for (size_t w = 0; w < words_.size(); ++w) {
            ranks_[w] = rank;
            rank += count_bits(words_[w]);
        }
    }

    bool identity() const { return identity_; }
    int64_t size() const { return n_; }

    int32_t find(int64_t column) const {
        if (!identity_ && !dense_) return table_.find(column);
        if (static_cast<uint64_t>(column) >= d_) return -1;
        if (identity_) return static_cast<int32_t>(column);
        const uint64_t word = words_[column >> 6];
        const int shift = static_cast<int>(column & 63);
        if (!(word >> shift & 1)) return -1;
        return ranks_[column >> 6] + count_bits(word & ((uint64_t{1} << shift) - 1));
    }
    // Whether find() gives a place.
    bool knows(int64_t column) const {
        if (dense_) return static_cast<uint64_t>(column) < d_ && (words_[column >> 6] >> (column & 63) & 1);
        return identity_ ? static_cast<uint64_t>(column) < d_ : table_.find(column) >= 0;
    }

private:
    int64_t n_;
    uint64_t d_;
    bool identity_, dense_;
    std::vector<uint64_t> words_;
    std::vector<int32_t> ranks_;
    HashTable table_;
};

}  // namespace ramodo
