// What standard C++17 leaves to compilers, each with a fallback. GCC and clang have all of it; RAMODO_PORTABLE keeps to the
// fallbacks, whose results the tests compare bit by bit.
#pragma once

#include <cstdint>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(RAMODO_PORTABLE)
#define RAMODO_GNU 1
#else
#define RAMODO_GNU 0
#endif

#if RAMODO_GNU
#define RAMODO_INLINE inline __attribute__((always_inline))
#define RAMODO_COLD __attribute__((cold, noinline))
// Asks for the cache line at an address: to write to it or not, and how near it is to stay (3: nearest).
#define RAMODO_FETCH(address, write, near) __builtin_prefetch(address, write, near)
#else
#define RAMODO_INLINE inline
#define RAMODO_COLD
#define RAMODO_FETCH(address, write, near) static_cast<void>(address)
#endif

namespace ramodo {

// What compiled the module, and its version: bits of results may differ between compilers.
inline const char* compiler() {
#if defined(__clang__)
    return __VERSION__;      // names clang
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#elif defined(_MSC_VER)
    return "msvc";
#else
    return "unknown";
#endif
}

// One load, which the compiler may not repeat. For bytes that another process may write to meanwhile.
template <class T>
RAMODO_INLINE T load_once(const T* from) {
#if RAMODO_GNU
    return __atomic_load_n(from, __ATOMIC_RELAXED);
#else
    return *static_cast<const volatile T*>(from);
#endif
}

inline int count_bits(uint64_t word) {
#if RAMODO_GNU
    return __builtin_popcountll(word);
#else
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return static_cast<int>(((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
#endif
}

// The place of the lowest bit of a word that has one.
inline int lowest_bit(uint64_t word) {
#if RAMODO_GNU
    return __builtin_ctzll(word);
#else
    return count_bits((word & (~word + 1)) - 1);
#endif
}

}  // namespace ramodo
