// Documents to counts of hashed tokens, and counts to weights.
#include "../text.hpp"

#include <nanobind/stl/pair.h>

#include "../document_frequencies.hpp"
#include "arrays.hpp"

namespace ramodo {

static TextOptions make_options(std::pair<int, int> words, std::pair<int, int> characters, int bits, bool marks) {
    need(bits >= 1 && bits <= 48, "bits must be from 1 to 48");
    need(words.first >= 0 && words.second <= 16 && characters.first >= 0 && characters.second <= 64, "n-grams are too long");
    return {words.first, words.second, characters.first, characters.second, bits, marks};
}

static void need_offsets(const Array<int64_t>& offsets, size_t n_bytes) {
    need(offsets.size() >= 1 && offsets.data()[0] >= 0, "offsets are empty");
    for (size_t i = 1; i < offsets.size(); ++i) need(offsets.data()[i - 1] <= offsets.data()[i], "offsets decrease");
    need(static_cast<size_t>(offsets.data()[offsets.size() - 1]) <= n_bytes, "offsets point outside of the text");
}

static nb::object count_text(const Array<uint8_t>& text, const Array<int64_t>& offsets, std::pair<int, int> words,
                             std::pair<int, int> characters, int bits, int n_threads, bool marks) {
    const TextOptions options = make_options(words, characters, bits, marks);
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

static nb::object text_spans(const Array<uint8_t>& text, std::pair<int, int> words, std::pair<int, int> characters, int bits, bool marks) {
    Tokenizer tokens(make_options(words, characters, bits, marks));
    std::vector<int64_t> columns, begins, ends;
    int64_t n_words = 0;
    {
        GilReleased released;
        tokens(reinterpret_cast<const char*>(text.data()), static_cast<int64_t>(text.size()),
               [&](int64_t column, int64_t begin, int64_t end, bool is_word) {
                   columns.push_back(column), begins.push_back(begin), ends.push_back(end);
                   n_words += is_word;
               });
    }
    const nb::bytes normalised(tokens.normalised().data(), tokens.normalised().size());
    return nb::make_tuple(normalised, n_words, give(std::move(columns)), give(std::move(begins)), give(std::move(ends)));
}

template <class I>
static nb::object document_frequencies_of(const Array<I>& columns, int64_t n_columns) {
    DocumentFrequencies found;
    {
        GilReleased released;
        for (size_t k = 0; k < columns.size(); ++k)
            need(columns.data()[k] >= 0 && columns.data()[k] < n_columns, "feature out of range");
        found = document_frequencies(columns.data(), static_cast<int64_t>(columns.size()), n_columns);
    }
    return nb::make_tuple(give(std::move(found.columns)), give(std::move(found.documents)));
}

static void make_weights(TokenWeights* self, const Array<int64_t>& columns, const Array<int32_t>& documents,
                         int64_t n_documents, int64_t n_columns) {
    GilReleased released;
    need(columns.size() == documents.size(), "arrays of the wrong size");
    need_features(columns, n_columns);
    for (size_t i = 0; i < documents.size(); ++i)
        need(documents.data()[i] >= 1 && documents.data()[i] <= n_documents, "document frequency out of range");
    new (self) TokenWeights(columns.data(), documents.data(), static_cast<int64_t>(columns.size()), n_documents, n_columns);
}

template <class I>
static void weigh(const TokenWeights& self, const Array<I>& columns, const Out<float>& counts, int n_threads) {
    GilReleased released;
    need(columns.size() == counts.size(), "arrays of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    self.weigh(pool, columns.data(), counts.data(), static_cast<int64_t>(columns.size()));
}

template <class I>
static void bind_weights(nb::module_& m, nb::class_<TokenWeights>& weights) {
    m.def("document_frequencies", &document_frequencies_of<I>, "columns"_a.noconvert(), "n_columns"_a,
          "(columns that occur, how often each does)");
    weights.def("weigh", &weigh<I>, "columns"_a.noconvert(), "counts"_a.noconvert(), "n_threads"_a);
}

void bind_text(nb::module_& m) {
    nb::class_<TokenWeights> weights(m, "TokenWeights");
    weights.def("__init__", &make_weights, "columns"_a.noconvert(), "documents"_a.noconvert(), "n_documents"_a, "n_columns"_a);
    bind_weights<int32_t>(m, weights);
    bind_weights<int64_t>(m, weights);
    m.def("count_text", &count_text, "text"_a.noconvert(), "offsets"_a.noconvert(), "words"_a, "characters"_a, "bits"_a,
          "n_threads"_a, "marks"_a = false, "(lengths of rows, columns, counts)");
    m.def("text_spans", &text_spans, "text"_a.noconvert(), "words"_a, "characters"_a, "bits"_a, "marks"_a = false,
          "(text as it is read; how many of its tokens, the first, are words; column, first byte and end of each token)");
}

}  // namespace ramodo
