// Documents to counts of hashed words and character n-grams.
//
// A word is a run of letters, digits and underscores (any byte of a character beyond ASCII counts as a letter), two
// characters or more. Character n-grams run over the whole text, with any run of blanks as one space. ASCII letters are
// taken in lower case. A mark is a run of all other characters but blanks; underscores and %, with the two hexadecimal
// digits after it, belong to marks there. The feature of a token is its 64-bit hash, cut to the bits that are asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "initial.hpp"
#include "threads.hpp"

namespace ramodo {

struct TextOptions {
    int word_first, word_last;     // n-grams of words, from .. to; 0 for none
    int char_first, char_last;     // n-grams of characters
    int bits;                      // features: 2^bits
    bool marks;                    // whether marks are tokens
};

class Tokenizer {
public:
    explicit Tokenizer(const TextOptions& options) : options_(options), mask_((uint64_t{1} << options.bits) - 1) {}

    // f(column, first byte, last byte, is_word) for each token, in order; bytes are those of normalised().
    template <class F>
    void operator()(const char* text, int64_t n, F&& f) {
        normalize(text, n);
        if (options_.word_last > 0) words(f);
        if (options_.marks) marks(f);
        if (options_.char_last > 0) characters(f);
    }
    const std::string& normalised() const { return text_; }

private:
    static constexpr uint64_t kPrime = 0x100000001B3ull, kBasis = 0xCBF29CE484222325ull;
    static uint64_t mix(uint64_t hash, unsigned char c) { return (hash ^ c) * kPrime; }
    static bool is_space(unsigned char c) { return c <= ' '; }
    static bool is_letter(unsigned char c) {
        return c >= 0x80 || c == '_' || static_cast<unsigned char>((c | 32) - 'a') < 26 || static_cast<unsigned char>(c - '0') < 10;
    }
    static bool starts_character(unsigned char c) { return (c & 0xC0) != 0x80; }
    int64_t column(uint64_t hash, uint64_t kind) const { return static_cast<int64_t>(splitmix64(hash ^ kind) & mask_); }

    void normalize(const char* text, int64_t n) {
        text_.clear();
        for (int64_t i = 0; i < n; ++i) {
            const unsigned char c = static_cast<unsigned char>(text[i]);
            if (is_space(c)) {
                if (!text_.empty() && text_.back() != ' ') text_.push_back(' ');
            } else {
                text_.push_back(static_cast<char>(static_cast<unsigned char>(c - 'A') < 26 ? c | 32 : c));
            }
        }
        if (!text_.empty() && text_.back() == ' ') text_.pop_back();
    }

    template <class F>
    void words(F&& f) {
        words_.clear();
        const int64_t n = static_cast<int64_t>(text_.size());
        for (int64_t i = 0; i < n;) {
            while (i < n && !is_letter(static_cast<unsigned char>(text_[i]))) ++i;
            int64_t begin = i, characters = 0;
            uint64_t hash = kBasis;
            for (; i < n && is_letter(static_cast<unsigned char>(text_[i])); ++i) {
                hash = mix(hash, static_cast<unsigned char>(text_[i]));
                characters += starts_character(static_cast<unsigned char>(text_[i]));
            }
            if (characters >= 2) words_.push_back({begin, i, hash});
        }
        for (size_t w = 0; w < words_.size(); ++w) {
            uint64_t hash = kBasis;
            for (int k = 1; k <= options_.word_last && w + k <= words_.size(); ++k) {
                hash = splitmix64(hash) ^ words_[w + k - 1].hash;
                if (k >= options_.word_first) f(column(hash, 1), words_[w].begin, words_[w + k - 1].end, true);
            }
        }
    }

    static bool is_hex(unsigned char c) { return static_cast<unsigned char>(c - '0') < 10 || static_cast<unsigned char>((c | 32) - 'a') < 6; }

    // The bytes that the mark, or part of one, takes at i; 0 if none is there.
    int64_t mark_at(int64_t i, int64_t n) const {
        const unsigned char c = static_cast<unsigned char>(text_[i]);
        if (c == '%' && i + 2 < n && is_hex(static_cast<unsigned char>(text_[i + 1])) && is_hex(static_cast<unsigned char>(text_[i + 2]))) return 3;
        return c != ' ' && (c == '_' || !is_letter(c));
    }

    template <class F>
    void marks(F&& f) {
        const int64_t n = static_cast<int64_t>(text_.size());
        for (int64_t i = 0; i < n;) {
            const int64_t begin = i;
            uint64_t hash = kBasis;
            for (int64_t taken = mark_at(i, n); taken; taken = i < n ? mark_at(i, n) : 0)
                for (const int64_t end = i + taken; i < end; ++i) hash = mix(hash, static_cast<unsigned char>(text_[i]));
            if (i > begin) f(column(hash, 3), begin, i, false);
            else ++i;
        }
    }

    template <class F>
    void characters(F&& f) {
        starts_.clear();
        for (size_t i = 0; i < text_.size(); ++i)
            if (starts_character(static_cast<unsigned char>(text_[i]))) starts_.push_back(static_cast<int64_t>(i));
        starts_.push_back(static_cast<int64_t>(text_.size()));
        const int64_t n = static_cast<int64_t>(starts_.size()) - 1;
        for (int64_t c = 0; c < n; ++c) {
            uint64_t hash = kBasis;
            for (int k = 1; k <= options_.char_last && c + k <= n; ++k) {
                for (int64_t i = starts_[c + k - 1]; i < starts_[c + k]; ++i) hash = mix(hash, static_cast<unsigned char>(text_[i]));
                if (k >= options_.char_first) f(column(hash, 2), starts_[c], starts_[c + k], false);
            }
        }
    }

    struct Word {
        int64_t begin, end;
        uint64_t hash;
    };
    TextOptions options_;
    uint64_t mask_;
    std::string text_;
    std::vector<Word> words_;
    std::vector<int64_t> starts_;
};

struct TextCounts {
    std::vector<int64_t> lengths, columns;
    std::vector<float> counts;
};

// Counts of the documents text[offsets[i] .. offsets[i + 1]).
inline TextCounts count_tokens(ThreadPool& pool, const char* text, const int64_t* offsets, int64_t n, const TextOptions& options) {
    const int64_t n_parts = std::max<int64_t>(1, std::min<int64_t>(n, 8 * pool.size()));
    std::vector<TextCounts> parts(static_cast<size_t>(n_parts));
    pool.run(n_parts, [&](int64_t p) {
        TextCounts& part = parts[p];
        Tokenizer tokens(options);
        std::vector<int64_t> found;
        for (int64_t d = n * p / n_parts; d < n * (p + 1) / n_parts; ++d) {
            found.clear();
            tokens(text + offsets[d], offsets[d + 1] - offsets[d], [&](int64_t column, int64_t, int64_t, bool) { found.push_back(column); });
            std::sort(found.begin(), found.end());
            const size_t before = part.columns.size();
            for (size_t i = 0; i < found.size();) {
                size_t j = i;
                while (j < found.size() && found[j] == found[i]) ++j;
                part.columns.push_back(found[i]);
                part.counts.push_back(static_cast<float>(j - i));
                i = j;
            }
            part.lengths.push_back(static_cast<int64_t>(part.columns.size() - before));
        }
    });
    TextCounts all;
    for (TextCounts& part : parts) {
        all.lengths.insert(all.lengths.end(), part.lengths.begin(), part.lengths.end());
        all.columns.insert(all.columns.end(), part.columns.begin(), part.columns.end());
        all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
        part = TextCounts();
    }
    return all;
}

}  // namespace ramodo
