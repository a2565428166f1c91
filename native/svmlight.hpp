// The text format of svmlight and libsvm: a label, perhaps qid:number, then index:value pairs, perhaps a # comment.
//
// A file is cut at line ends into parts. One pass counts the rows and pairs of each part, so that the arrays of the
// result can be made at their final size; a second pass reads every part into its own place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "numbers.hpp"
#include "threads.hpp"

namespace ramodo {

struct SvmPart {
    int64_t begin = 0, end = 0;              // bytes
    int64_t n_rows = 0, n_entries = 0;
};

enum class SvmError : int { none, label, index, colon, value, not_finite, too_large, repeated };

struct SvmFound {
    SvmError error = SvmError::none;
    int64_t error_at = -1;                   // byte
    int64_t largest = -1, smallest = INT64_MAX;
    bool single = true;                      // float32 holds every value
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline const char* skip_blanks(const char* p, const char* end) {
    while (p < end && is_blank(*p)) ++p;
    return p;
}

// Where the text of a line ends: at its comment, or at its own end.
inline const char* text_end(const char* line, const char* end) {
    if (line >= end) return end;
    const void* hash = std::memchr(line, '#', static_cast<size_t>(end - line));
    return hash ? static_cast<const char*>(hash) : end;
}

// Calls f(start, end of text) for each line that is not blank or a comment.
template <class F>
bool for_lines(const char* p, const char* end, F&& f) {
    while (p < end) {
        const void* found = std::memchr(p, '\n', static_cast<size_t>(end - p));
        const char* line_end = found ? static_cast<const char*>(found) : end;
        const char* start = skip_blanks(p, line_end);
        const char* stop = text_end(start, line_end);
        if (start < stop && !f(start, stop)) return false;
        p = line_end + 1;
    }
    return true;
}

inline const char* skip_token(const char* p, const char* end) {
    while (p < end && !is_blank(*p)) ++p;
    return p;
}

// The place of "qid:" behind the label, if there is one.
inline bool has_qid(const char* p, const char* end) {
    return end - p > 4 && std::memcmp(p, "qid:", 4) == 0 && !is_blank(p[4]);
}

inline void count_part(const char* text, SvmPart& part) {
    for_lines(text + part.begin, text + part.end, [&](const char* p, const char* end) {
        ++part.n_rows;
        int64_t colons = 0;
        for (const char* c = p; c < end; ++c) colons += *c == ':';
        part.n_entries += colons - has_qid(skip_blanks(skip_token(p, end), end), end);
        return true;
    });
}

// Parts of about equal size, cut behind line ends, with their rows and pairs counted.
inline std::vector<SvmPart> count_svmlight(ThreadPool& pool, const char* text, int64_t n_bytes) {
    constexpr int64_t kSmallest = 1 << 16;
    const int64_t n_parts = std::max<int64_t>(1, std::min<int64_t>(8 * pool.size(), n_bytes / kSmallest));
    std::vector<SvmPart> parts;
    int64_t begin = 0;
    for (int64_t i = 1; i <= n_parts && begin < n_bytes; ++i) {
        int64_t end = i == n_parts ? n_bytes : std::max(begin, n_bytes * i / n_parts);
        if (end < n_bytes) {
            const void* line_end = std::memchr(text + end, '\n', static_cast<size_t>(n_bytes - end));
            end = line_end ? static_cast<const char*>(line_end) - text + 1 : n_bytes;
        }
        parts.push_back({begin, end});
        begin = end;
    }
    pool.run(static_cast<int64_t>(parts.size()), [&](int64_t i) { count_part(text, parts[i]); });
    return parts;
}

constexpr int64_t kMostIndex = int64_t{1} << 48;

// Digits from p on, no more than 18; p is moved behind them.
inline int64_t read_index(const char*& p, const char* end) {
    const char* start = p;
    int64_t index = 0;
    while (p < end && is_digit(*p) && p - start < 18) index = 10 * index + (*p++ - '0');
    return index;
}

// Brings the pairs of a row into the order of their indices; `p` is where their text begins. Returns the place of an
// index that was given before, or null.
template <class I>
const char* sort_row(const char* p, const char* end, int64_t n, I* indices, double* values) {
    struct Entry {
        int64_t column;
        const char* at;
        double value;
    };
    std::vector<Entry> entries(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) {
        const char* at = p;
        entries[k] = {read_index(p, end), at, values[k]};
        p = skip_blanks(skip_token(p, end), end);
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
    const char* repeated = nullptr;
    for (int64_t k = 1; k < n; ++k)
        if (entries[k].column == entries[k - 1].column && (!repeated || entries[k].at < repeated)) repeated = entries[k].at;
    for (int64_t k = 0; k < n; ++k) indices[k] = static_cast<I>(entries[k].column), values[k] = entries[k].value;
    return repeated;
}

// Reads one part; lengths[row] is the number of pairs of each row.
template <class I>
SvmFound read_part(const char* text, const SvmPart& part, double* labels, int64_t* lengths, I* indices, double* values) {
    SvmFound found;
    auto fail = [&](SvmError error, const char* at) {
        found.error = error;
        found.error_at = at - text;
        return false;
    };
    for_lines(text + part.begin, text + part.end, [&](const char* p, const char* end) {
        const char* next = read_number(p, end, *labels);
        if (!next || (next < end && !is_blank(*next)) || !std::isfinite(*labels)) return fail(SvmError::label, p);
        ++labels;
        p = skip_blanks(next, end);
        if (has_qid(p, end)) {
            const char* behind = skip_token(p, end);
            for (const char* c = p + 4; c < behind; ++c)
                if (*c == ':') return fail(SvmError::colon, c);
            p = skip_blanks(behind, end);
        }
        const char* pairs = p;
        int64_t previous = -1, n = 0;
        bool ordered = true;
        while (p < end) {
            const char* start = p;
            const int64_t column = read_index(p, end);
            if (p == start) return fail(SvmError::index, start);
            if (column > kMostIndex || (p < end && is_digit(*p))) return fail(SvmError::too_large, start);
            if (p == end || *p != ':') return fail(SvmError::colon, p);
            const char* after = read_number(++p, end, *values);
            if (!after || (after < end && !is_blank(*after))) return fail(SvmError::value, p);
            if (!std::isfinite(*values)) return fail(SvmError::not_finite, p);
            ordered &= column > previous;
            found.single &= static_cast<double>(static_cast<float>(*values)) == *values;
            found.largest = std::max(found.largest, column);
            found.smallest = std::min(found.smallest, column);
            previous = column;
            *indices++ = static_cast<I>(column);
            ++values, ++n;
            p = skip_blanks(after, end);
        }
        if (!ordered)
            if (const char* repeated = sort_row(pairs, end, n, indices - n, values - n)) return fail(SvmError::repeated, repeated);
        *lengths++ = n;
        return true;
    });
    return found;
}

// All parts; the first error in the order of the file, if any. Indices that do not fit I are cut: see `largest`.
template <class I>
SvmFound read_svmlight(ThreadPool& pool, const char* text, const std::vector<SvmPart>& parts, double* labels,
                       int64_t* lengths, I* indices, double* values) {
    std::vector<SvmFound> found(parts.size());
    std::vector<int64_t> rows(parts.size() + 1, 0), entries(parts.size() + 1, 0);
    for (size_t i = 0; i < parts.size(); ++i) {
        rows[i + 1] = rows[i] + parts[i].n_rows;
        entries[i + 1] = entries[i] + parts[i].n_entries;
    }
    pool.run(static_cast<int64_t>(parts.size()), [&](int64_t i) {
        found[i] = read_part(text, parts[i], labels + rows[i], lengths + rows[i], indices + entries[i], values + entries[i]);
    });
    SvmFound all;
    for (const SvmFound& part : found) {
        if (all.error == SvmError::none && part.error != SvmError::none) all.error = part.error, all.error_at = part.error_at;
        all.largest = std::max(all.largest, part.largest);
        all.smallest = std::min(all.smallest, part.smallest);
        all.single &= part.single;
    }
    return all;
}

}  // namespace ramodo
