// Numbers in text: decimal digits that a double holds exactly are read by hand, all others by the standard library.
#pragma once

#include <cstdint>
#include <limits>

#include "decimal.hpp"

namespace ramodo {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Whether a decimal number without a sign is 1 or more, from its digits and its exponent.
inline bool is_large(const char* p, const char* end) {
    int64_t magnitude = 0;
    bool seen = false, fraction = false;
    for (; p < end && *p != 'e' && *p != 'E'; ++p) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        seen |= *p != '0';
        magnitude += fraction ? -!seen : seen;
    }
    if (p < end) ++p;
    const bool negative = p < end && *p == '-';
    int64_t exponent = 0;
    for (; p < end; ++p)
        if (is_digit(*p) && exponent < int64_t{1} << 50) exponent = 10 * exponent + (*p - '0');
    return magnitude + (negative ? -exponent : exponent) > 0;
}

// Reads a number at p (before end) into `value`; returns the place behind it, or null where there is none.
inline const char* read_number(const char* p, const char* end, double& value) {
    static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                         1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool plus = p < end && *p == '+';
    const bool negative = p < end && *p == '-';
    p += plus || negative;
    uint64_t digits = 0;
    const char* first = p;
    while (p < end && is_digit(*p)) digits = 10 * digits + static_cast<uint64_t>(*p++ - '0');
    int64_t n_digits = p - first;
    int exponent = 0;
    if (p < end && *p == '.') {
        const char* fraction = ++p;
        while (p < end && is_digit(*p)) digits = 10 * digits + static_cast<uint64_t>(*p++ - '0');
        exponent = static_cast<int>(fraction - p);
        n_digits += p - fraction;
    }
    const bool plain = n_digits > 0 && n_digits <= 18 && !(p < end && (*p == 'e' || *p == 'E'));
    if (plain && digits <= (uint64_t{1} << 53) && exponent >= -22) {
        const double magnitude = static_cast<double>(digits) / kPowers[-exponent];
        value = negative ? -magnitude : magnitude;
        return p;
    }
    if (first < end && *first == '-') return nullptr;            // from_chars would take a second sign
    const auto result = decimal_from_chars(first, end, value);   // also "inf" and "nan", which callers refuse
    if (result.ec == std::errc::result_out_of_range)
        value = is_large(first, result.ptr) ? std::numeric_limits<double>::infinity() : 0.0;
    else if (result.ec != std::errc())
        return nullptr;
    if (negative) value = -value;
    return result.ptr;
}

}  // namespace ramodo
