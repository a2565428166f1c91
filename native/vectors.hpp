// Four or eight numbers at a time: vectors of GCC and clang, or arrays with the same arithmetic. A member of RAMODO_ISA, as
// all that is compiled for several instruction sets.
#pragma once

#include <cstdint>

#include "compiler.hpp"

namespace ramodo {

namespace RAMODO_ISA {

#if RAMODO_GNU

typedef float f4 __attribute__((vector_size(16), aligned(4)));
typedef float f8 __attribute__((vector_size(32), aligned(4)));
typedef double d4 __attribute__((vector_size(32), aligned(8)));
typedef uint32_t u4 __attribute__((vector_size(16)));
typedef int32_t i4 __attribute__((vector_size(16)));

RAMODO_INLINE i4 as_signed(u4 v) { return reinterpret_cast<i4&>(v); }
RAMODO_INLINE f4 floats(i4 v) { return __builtin_convertvector(v, f4); }
RAMODO_INLINE d4 doubles(f4 v) { return __builtin_convertvector(v, d4); }

#else

template <class T, int N>
struct Vector {
    T at[N];

    RAMODO_INLINE T operator[](int i) const { return at[i]; }
    template <class F>
    RAMODO_INLINE static Vector each(F&& f) {
        Vector made;
        for (int i = 0; i < N; ++i) made.at[i] = f(i);
        return made;
    }

    friend RAMODO_INLINE Vector operator+(const Vector& a, const Vector& b) { return each([&](int i) { return a[i] + b[i]; }); }
    friend RAMODO_INLINE Vector operator*(const Vector& a, const Vector& b) { return each([&](int i) { return a[i] * b[i]; }); }
    friend RAMODO_INLINE Vector operator^(const Vector& a, const Vector& b) { return each([&](int i) { return a[i] ^ b[i]; }); }
    friend RAMODO_INLINE Vector operator>>(const Vector& a, int bits) { return each([&](int i) { return a[i] >> bits; }); }
    friend RAMODO_INLINE Vector operator+(const Vector& a, T b) { return each([&](int i) { return a[i] + b; }); }
    friend RAMODO_INLINE Vector operator*(const Vector& a, T b) { return each([&](int i) { return a[i] * b; }); }
    friend RAMODO_INLINE Vector operator*(T a, const Vector& b) { return each([&](int i) { return a * b[i]; }); }
    friend RAMODO_INLINE Vector operator-(T a, const Vector& b) { return each([&](int i) { return a - b[i]; }); }
    template <class V>
    RAMODO_INLINE Vector& operator+=(const V& b) { return *this = *this + b; }
    template <class V>
    RAMODO_INLINE Vector& operator*=(const V& b) { return *this = *this * b; }
    RAMODO_INLINE Vector& operator^=(const Vector& b) { return *this = *this ^ b; }
};

using f4 = Vector<float, 4>;
using f8 = Vector<float, 8>;
using d4 = Vector<double, 4>;
using u4 = Vector<uint32_t, 4>;
using i4 = Vector<int32_t, 4>;

RAMODO_INLINE i4 as_signed(const u4& v) { return i4::each([&](int i) { return static_cast<int32_t>(v[i]); }); }
RAMODO_INLINE f4 floats(const i4& v) { return f4::each([&](int i) { return static_cast<float>(v[i]); }); }
RAMODO_INLINE d4 doubles(const f4& v) { return d4::each([&](int i) { return static_cast<double>(v[i]); }); }

#endif

}  // namespace RAMODO_ISA
}  // namespace ramodo
