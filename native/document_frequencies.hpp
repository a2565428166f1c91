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

    void add(int64_t column, int32_t of_column) {
        columns.push_back(column);
        documents.push_back(of_column);
    }
};

// A number for each of D columns is affordable, beside the `n` entries at hand; else memory follows the columns seen.
inline bool table_is_small(int64_t d, int64_t n) { return d / 2 <= n; }

// Of entries that name each column of a document once; columns must be in [0, D).
template <class I>
DocumentFrequencies document_frequencies(const I* columns, int64_t n, int64_t d) {
    DocumentFrequencies found;
    if (table_is_small(d, n)) {
        std::vector<int32_t> counted(static_cast<size_t>(d));
        for (int64_t k = 0; k < n; ++k) ++counted[columns[k]];
        for (int64_t column = 0; column < d; ++column)
            if (counted[column]) found.add(column, counted[column]);
        return found;
    }
    HashTable places;
    std::vector<std::pair<int64_t, int32_t>> counted;
    for (int64_t k = 0; k < n; ++k) {
        const int32_t next = static_cast<int32_t>(counted.size()), at = places.find_or_insert(columns[k], next);
        if (at == next) counted.emplace_back(columns[k], 0);
        ++counted[at].second;
    }
    std::sort(counted.begin(), counted.end());
    for (const auto& [column, documents] : counted) found.add(column, documents);
    return found;
}

// (1 + ln count) * (ln((1 + N) / (1 + documents with the token)) + 1), in place of the count.
class TokenWeights {
public:
    TokenWeights(const int64_t* columns, const int32_t* documents, int64_t n, int64_t n_documents, int64_t d)
        : columns_(columns, columns + n), lookup_(columns, n, d), d_(d), n_documents_(n_documents), unseen_(inverse(0)) {
        for (int64_t i = 0; i < n; ++i) inverse_.push_back(inverse(documents[i]));
    }

    // Any column may be given.
    template <class I>
    void weigh(ThreadPool& pool, const I* columns, float* counts, int64_t n) const {
        if (!table_is_small(d_, n)) {
            weigh_by(pool, columns, counts, n, [&](int64_t column) {
                const int32_t place = lookup_.find(column);
                return place < 0 ? unseen_ : inverse_[place];
            });
            return;
        }
        std::vector<double> table(static_cast<size_t>(d_), unseen_);
        for (size_t i = 0; i < columns_.size(); ++i) table[columns_[i]] = inverse_[i];
        weigh_by(pool, columns, counts, n, [&](int64_t column) {
            return static_cast<uint64_t>(column) < table.size() ? table[column] : unseen_;
        });
    }

private:
    template <class I, class F>
    static void weigh_by(ThreadPool& pool, const I* columns, float* counts, int64_t n, const F& inverse_of) {
        parallel_ranges(pool, n, 1 << 14, [&](int64_t begin, int64_t end) {
            for (int64_t k = begin; k < end; ++k) {
                const double of_count = counts[k] == 1 ? 1 : 1 + std::log(static_cast<double>(counts[k]));
                counts[k] = static_cast<float>(of_count * inverse_of(columns[k]));
            }
        });
    }

    double inverse(int64_t documents) const {
        return std::log(static_cast<double>(1 + n_documents_) / static_cast<double>(1 + documents)) + 1;
    }

    std::vector<int64_t> columns_;
    FeatureLookup lookup_;
    int64_t d_, n_documents_;
    double unseen_;
    std::vector<double> inverse_;
};

}  // namespace ramodo
