// Where a hash table puts a feature. Each process has a key of its own, so that nobody can choose indices that all fall
// on the same place and make a table of n features cost n^2.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <random>

#include "initial.hpp"

namespace ramodo {

class HashKey {
public:
    HashKey(uint64_t first, uint64_t second) : add_(first), times_(second | 1) {}

    // One to one; the secret factor comes first, since what splitmix64 makes of chosen differences is known.
    uint64_t operator()(int64_t column) const { return splitmix64(add_ + times_ * static_cast<uint64_t>(column)); }

    static const HashKey& of_process() {
        static const HashKey key(drawn(1), drawn(2));
        return key;
    }

private:
    // The system's randomness; the clock and the place of the stack, should the system have none to give.
    static uint64_t drawn(uint64_t number) {
        const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
        uint64_t key = splitmix64(number ^ splitmix64(static_cast<uint64_t>(now)) ^ reinterpret_cast<uintptr_t>(&number));
        try {
            std::random_device device;
            key ^= (static_cast<uint64_t>(device()) << 32) ^ device();
        } catch (const std::exception&) {
        }
        return key;
    }

    uint64_t add_, times_;
};

}  // namespace ramodo
