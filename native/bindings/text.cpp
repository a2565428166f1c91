// Documents to counts of hashed tokens.
#include "../text.hpp"

#include <nanobind/stl/pair.h>

#include "arrays.hpp"

namespace ramodo {

static TextOptions make_options(std::pair<int, int> words, std::pair<int, int> characters, int bits) {
    need(bits >= 1 && bits <= 48, "bits must be from 1 to 48");
    need(words.first >= 0 && words.second <= 16 && characters.first >= 0 && characters.second <= 64, "n-grams are too long");
    return {words.first, words.second, characters.first, characters.second, bits};
}

static void need_offsets(const Array<int64_t>& offsets, size_t n_bytes) {
    need(offsets.size() >= 1 && offsets.data()[0] >= 0, "offsets are empty");
    for (size_t i = 1; i < offsets.size(); ++i) need(offsets.data()[i - 1] <= offsets.data()[i], "offsets decrease");
    need(static_cast<size_t>(offsets.data()[offsets.size() - 1]) <= n_bytes, "offsets point outside of the text");
}

static nb::object count_text(const Array<uint8_t>& text, const Array<int64_t>& offsets, std::pair<int, int> words,
                             std::pair<int, int> characters, int bits, int n_threads) {
    const TextOptions options = make_options(words, characters, bits);
    TextCounts counts;
    {
        GilReleased released;
        need_offsets(offsets, text.size());
        ThreadPool pool(std::max(1, n_threads));
        counts = count_tokens(pool, reinterpret_cast<const char*>(text.data()), offsets.data(),
                              static_cast<int64_t>(offsets.size()) - 1, options);
    }
    return nb::make_tuple(give(std::move(counts.lengths)), give(std::move(counts.columns)), give(std::move(counts.counts)));
}

static nb::object text_tokens(const Array<uint8_t>& text, std::pair<int, int> words, std::pair<int, int> characters, int bits) {
    Tokenizer tokens(make_options(words, characters, bits));
    std::vector<Token> found;
    {
        GilReleased released;
        tokens(reinterpret_cast<const char*>(text.data()), static_cast<int64_t>(text.size()),
               [&](int64_t column, int64_t begin, int64_t end, bool is_word) { found.push_back({column, begin, end, is_word}); });
    }
    nb::list given;
    for (const Token& token : found) {
        const nb::bytes bytes(tokens.normalised().data() + token.begin, static_cast<size_t>(token.end - token.begin));
        given.append(nb::make_tuple(token.column, bytes, token.is_word));
    }
    return given;
}

void bind_text(nb::module_& m) {
    m.def("count_text", &count_text, "text"_a.noconvert(), "offsets"_a.noconvert(), "words"_a, "characters"_a, "bits"_a,
          "n_threads"_a, "(lengths of rows, columns, counts)");
    m.def("text_tokens", &text_tokens, "text"_a.noconvert(), "words"_a, "characters"_a, "bits"_a,
          "(column, bytes, is a word) of each token of one document");
}

}  // namespace ramodo
