// std::from_chars for doubles, and what stands in for it where the standard library has it for integers alone, as libc++ had
// until 2025: strtod, whose result is the same, in the locale "C". RAMODO_PORTABLE keeps to that.
#pragma once

#include <charconv>
#include <limits>
#include <string>
#include <system_error>

#include "compiler.hpp"

#if defined(_MSC_VER) || (RAMODO_GNU && defined(__cpp_lib_to_chars))
#define RAMODO_FROM_CHARS 1
#else
#define RAMODO_FROM_CHARS 0
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace ramodo {

#if RAMODO_FROM_CHARS

inline std::from_chars_result decimal_from_chars(const char* first, const char* end, double& value) {
    return std::from_chars(first, end, value);
}

#else

inline bool is_decimal(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The place behind a word at p, of small or capital letters, or p.
inline const char* behind_word(const char* p, const char* end, const char* word) {
    const char* at = p;
    for (; *word; ++word, ++at)
        if (at >= end || (*at | 0x20) != *word) return p;
    return at;
}

inline const char* behind_digits(const char* p, const char* end) {
    while (p < end && is_decimal(*p)) ++p;
    return p;
}

// The place behind the number at p, as from_chars reads it: no plus in front, no hexadecimal digits; p where there is none.
inline const char* behind_decimal(const char* p, const char* end) {
    const char* at = p + (p < end && *p == '-');
    const char* named = behind_word(at, end, "infinity");
    if (named == at) named = behind_word(at, end, "inf");
    if (named == at) named = behind_word(at, end, "nan");
    if (named != at) return named;
    const char* whole = behind_digits(at, end);
    const bool point = whole < end && *whole == '.';
    const char* fraction = point ? behind_digits(whole + 1, end) : whole;
    if (fraction - at == (point ? 1 : 0)) return p;              // no digit
    if (fraction == end || (*fraction | 0x20) != 'e') return fraction;
    const char* exponent = fraction + 1;
    exponent += exponent < end && (*exponent == '-' || *exponent == '+');
    const char* last = behind_digits(exponent, end);
    return last == exponent ? fraction : last;
}

inline std::from_chars_result decimal_from_chars(const char* first, const char* end, double& value) {
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    const char* behind = behind_decimal(first, end);
    if (behind == first) return {first, std::errc::invalid_argument};
    const std::string copy(first, behind);                       // strtod wants an end that it can see
    const double found = strtod_l(copy.c_str(), nullptr, plain);
    const bool named = !is_decimal(copy.back()) && copy.back() != '.';
    const bool huge = found > std::numeric_limits<double>::max() || found < std::numeric_limits<double>::lowest();
    bool digits = false;                                         // whether zero is what was said, or all that is left
    for (const char c : copy) {
        if ((c | 0x20) == 'e') break;
        digits |= is_decimal(c) && c != '0';
    }
    if (!named && (huge || (found == 0 && digits))) return {behind, std::errc::result_out_of_range};
    value = found;
    return {behind, std::errc()};
}

#endif

}  // namespace ramodo
