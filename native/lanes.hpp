// M floats held in registers: C groups of four, eight at a time where the machine can.
//
// A row of the representation (20 floats by default) is short enough to stay in registers over a whole row of X.
// Widths beyond 32 are cut into panels, see for_panels().
#pragma once

#include "inner_loops.hpp"
#include "vectors.hpp"

namespace ramodo {

namespace RAMODO_ISA {

constexpr int kMaxGroups = 8;    // groups a panel

template <int C>
struct Lanes {
    static constexpr int wide_count = C / 2;
    f8 wide[wide_count ? wide_count : 1];
    f4 narrow;

    RAMODO_INLINE void clear() {
        for (int i = 0; i < wide_count; ++i) wide[i] = f8{};
        narrow = f4{};
    }
    RAMODO_INLINE void load(const float* p) {
        for (int i = 0; i < wide_count; ++i) wide[i] = *reinterpret_cast<const f8*>(p + 8 * i);
        if constexpr (C % 2) narrow = *reinterpret_cast<const f4*>(p + 8 * wide_count);
    }
    RAMODO_INLINE void store(float* p) const {
        for (int i = 0; i < wide_count; ++i) *reinterpret_cast<f8*>(p + 8 * i) = wide[i];
        if constexpr (C % 2) *reinterpret_cast<f4*>(p + 8 * wide_count) = narrow;
    }
    // this += x * p
    RAMODO_INLINE void add_scaled(float x, const float* p) {
        for (int i = 0; i < wide_count; ++i) wide[i] += x * *reinterpret_cast<const f8*>(p + 8 * i);
        if constexpr (C % 2) narrow += x * *reinterpret_cast<const f4*>(p + 8 * wide_count);
    }
    RAMODO_INLINE void add_scaled(float x, const Lanes& p) {
        for (int i = 0; i < wide_count; ++i) wide[i] += x * p.wide[i];
        if constexpr (C % 2) narrow += x * p.narrow;
    }
};

// Calls f(groups<C>, first float) for each panel of a padded width.
template <int C>
struct Groups {
    static constexpr int value = C;
};

template <class F>
inline void for_panels(int width, F&& f) {
    for (int first = 0; first < width; first += kGroup * kMaxGroups) {
        int groups = (width - first) / kGroup;
        switch (groups < kMaxGroups ? groups : kMaxGroups) {
            case 1: f(Groups<1>{}, first); break;
            case 2: f(Groups<2>{}, first); break;
            case 3: f(Groups<3>{}, first); break;
            case 4: f(Groups<4>{}, first); break;
            case 5: f(Groups<5>{}, first); break;
            case 6: f(Groups<6>{}, first); break;
            case 7: f(Groups<7>{}, first); break;
            default: f(Groups<8>{}, first); break;
        }
    }
}

}  // namespace RAMODO_ISA
}  // namespace ramodo
