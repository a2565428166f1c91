// Integers that mostly increase, such as the sorted features of row after row, as a stream of bits.
//
// What is written is the gap to the integer before, by a Rice code: the gap without its last k bits as so many zeros and a
// one, then those k bits. k follows the gaps that came after integers of the same size, since where features are sorted by
// how often they occur, gaps grow with them; of geometric gaps no code needs much less. Bits that stand for no gap say
// that an integer does not increase, or that a gap is far larger than usual. Both ends learn the same from the same gaps,
// so that nothing besides is sent.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compiler.hpp"

namespace ramodo {

class GapSizes {
public:
    static constexpr int kMost = 32;          // bits that are written as they are
    static constexpr uint32_t kWindow = 1024; // gaps after which older ones begin to count less

    int k() const { return k_; }
    void learn(uint64_t gap) {
        sum_ += gap < (uint64_t{1} << 40) ? gap : uint64_t{1} << 40;
        if (++n_ == kWindow) n_ /= 2, sum_ /= 2;
        while (k_ < kMost && (uint64_t{n_} << (k_ + 1)) <= sum_) ++k_;
        while (k_ > 0 && (uint64_t{n_} << k_) > sum_) --k_;
    }

private:
    uint64_t sum_ = 0;
    uint32_t n_ = 0;
    int k_ = 0;                               // 2^k is at most the mean gap
};

constexpr int kRestart = 16, kLarge = 17;     // more zeros than gaps of the usual size have
constexpr int kSizes = 130;                   // of integers, each of which is half as large again; and of those that restart

// The size of the integer before: its length in bits, and the bit after the highest.
inline int size_of(uint64_t before) {
    const int length = bit_length(before);
    return 2 * length + (length > 1 ? static_cast<int>(before >> (length - 2) & 1) : 0);
}

class GapWriter {
public:
    // Whether all of them were written, in at most `limit` bytes; not where one in eight does not increase.
    template <class U>
    bool write(const U* values, int64_t n, size_t limit) {
        int64_t restarts = 0;
        uint64_t before = ~uint64_t{0};       // so that the first gap is the first integer
        for (int64_t i = 0; i < n; ++i) {
            const uint64_t value = load_once(values + i);
            if (i == 0 || value > before) put(sizes_[i == 0 ? 0 : size_of(before)], value - before - 1);
            else {
                if (8 * ++restarts > n) return false;
                bits(uint64_t{1} << kRestart, kRestart + 1);
                put(sizes_[kSizes], value);
            }
            before = value;
            if (size_ > limit) return false;
        }
        size_t last = (static_cast<size_t>(held_) + 7) / 8;
        flush();
        bytes_.resize(size_ - 4 + last);
        return bytes_.size() <= limit;
    }
    std::vector<uint8_t> take() { return std::move(bytes_); }

private:
    void put(GapSizes& size, uint64_t gap) {
        const int k = size.k();
        const uint64_t high = gap >> k;
        if (high < kRestart) {
            bits(uint64_t{1} << high, static_cast<int>(high) + 1);
            bits(gap & ((uint64_t{1} << k) - 1), k);
        } else {
            const int length = bit_length(gap);
            bits(uint64_t{1} << kLarge, kLarge + 1);
            bits(static_cast<uint64_t>(length), 7);
            bits(gap & 0xFFFFFFFFu, length < 32 ? length : 32);
            if (length > 32) bits(gap >> 32, length - 32);
        }
        size.learn(gap);
    }
    void bits(uint64_t value, int n) {        // at most 32
        held_bits_ |= value << held_;
        held_ += n;
        if (held_ >= 32) flush();
    }
    void flush() {                            // four bytes
        if (size_ + 4 > bytes_.size()) bytes_.resize(2 * size_ + 4096);
        for (int i = 0; i < 4; ++i) bytes_[size_ + i] = static_cast<uint8_t>(held_bits_ >> 8 * i);
        size_ += 4;
        held_bits_ >>= 32;
        held_ -= 32;
    }

    std::vector<uint8_t> bytes_;
    size_t size_ = 0;                         // of what is written
    GapSizes sizes_[kSizes + 1];
    uint64_t held_bits_ = 0;
    int held_ = 0;
};

class GapReader {
public:
    GapReader(const uint8_t* bytes, size_t n) : next_(bytes), end_(bytes + n) {}

    template <class U>
    void read(U* values, int64_t n) {
        uint64_t before = ~uint64_t{0};
        for (int64_t i = 0; i < n; ++i) {
            const int size = i == 0 ? 0 : size_of(before);
            const int zeros = leading();
            before = zeros == kRestart ? get(sizes_[kSizes], leading()) : before + 1 + get(sizes_[size], zeros);
            values[i] = static_cast<U>(before);
        }
    }

private:
    uint64_t get(GapSizes& size, int zeros) {
        uint64_t gap;
        if (zeros < kRestart) {
            const int k = size.k();
            gap = static_cast<uint64_t>(zeros) << k | bits(k);
        } else if (zeros == kLarge) {
            const int length = static_cast<int>(bits(7));
            if (length > 64) refuse();
            gap = bits(length < 32 ? length : 32);
            if (length > 32) gap |= bits(length - 32) << 32;
        } else refuse();
        size.learn(gap);
        return gap;
    }
    int leading() {                           // zeros, and the one behind them
        fill();
        if (!(held_bits_ & ((uint64_t{1} << (kLarge + 1)) - 1))) refuse();
        const int zeros = lowest_bit(held_bits_);
        skip(zeros + 1);
        return zeros;
    }
    uint64_t bits(int n) {                    // at most 32
        if (held_ < n) fill();
        const uint64_t found = held_bits_ & ((uint64_t{1} << n) - 1);
        skip(n);
        return found;
    }
    void skip(int n) {
        if (n > held_) refuse();
        held_bits_ >>= n;
        held_ -= n;
    }
    void fill() {
        while (held_ <= 56 && next_ < end_) {
            held_bits_ |= static_cast<uint64_t>(*next_++) << held_;
            held_ += 8;
        }
    }
    [[noreturn]] RAMODO_COLD static void refuse() { throw std::invalid_argument("the bits end too early, or are no gaps"); }

    const uint8_t *next_, *end_;
    GapSizes sizes_[kSizes + 1];
    uint64_t held_bits_ = 0;
    int held_ = 0;
};

}  // namespace ramodo
