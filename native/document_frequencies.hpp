// In how many documents each token is, and what tokens weigh by it: the fewer documents have a token, the more.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "features.hpp"
#include "threads.hpp"

namespace ramodo {

struct DocumentFrequencies {
    std::vector<int64_t> columns;
    std::vector<int32_t> documents;
};

// Of entries that name each column of a document once; columns must be in [0, D). Few, of a width that no bitmap has.
template <class I>
DocumentFrequencies hashed_frequencies(const I* columns, int64_t n) {
    HashTable places;
    std::vector<std::pair<int64_t, int32_t>> counted;
    for (int64_t k = 0; k < n; ++k) {
        const int32_t next = static_cast<int32_t>(counted.size()), at = places.find_or_insert(columns[k], next);
        if (at == next) counted.emplace_back(columns[k], 0);
        ++counted[at].second;
    }
    std::sort(counted.begin(), counted.end());
    DocumentFrequencies found;
    for (const auto& [column, documents] : counted) found.columns.push_back(column), found.documents.push_back(documents);
    return found;
}

// The same of any width.
template <class I>
DocumentFrequencies document_frequencies(const I* columns, int64_t n, int64_t d) {
    if (!bitmap_is_small(d, n)) return hashed_frequencies(columns, n);
    FeatureSet seen(d, n);
    seen.insert(columns, n);
    DocumentFrequencies found;
    found.columns = seen.sorted();
    found.documents.resize(found.columns.size());
    const FeatureLookup lookup(found.columns.data(), static_cast<int64_t>(found.columns.size()), d);
    for (int64_t k = 0; k < n; ++k) {
        const int32_t place = lookup.find(load_once(columns + k));
        if (place < 0) refuse_changed();
        ++found.documents[place];
    }
    return found;
}

// (1 + ln count) * (ln((1 + N) / (1 + documents with the token)) + 1), in place of the count.
class TokenWeights {
public:
    TokenWeights(const int64_t* columns, const int32_t* documents, int64_t n, int64_t n_documents, int64_t d)
        : lookup_(columns, n, d), n_documents_(n_documents), unseen_(inverse(0)) {
        for (int64_t i = 0; i < n; ++i) inverse_.push_back(inverse(documents[i]));
    }

    template <class I>
    void weigh(ThreadPool& pool, const I* columns, float* counts, int64_t n) const {
        parallel_ranges(pool, n, 1 << 14, [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) {
                const int32_t place = lookup_.find(columns[k]);
                const double of_token = place < 0 ? unseen_ : inverse_[place];
                const double of_count = counts[k] == 1 ? 1 : 1 + std::log(static_cast<double>(counts[k]));
                counts[k] = static_cast<float>(of_count * of_token);
            }
        });
    }

private:
    double inverse(int64_t documents) const {
        return std::log(static_cast<double>(1 + n_documents_) / static_cast<double>(1 + documents)) + 1;
    }

    FeatureLookup lookup_;
    int64_t n_documents_;
    double unseen_;
    std::vector<double> inverse_;
};

}  // namespace ramodo
