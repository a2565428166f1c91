// φ on sparse rows (equation 1): the mean over subsamples of the distance to the nearest (k-th, k nearest) reference.
//
// The references are few, so they are turned around: for each feature, which references have it. A row then needs one
// pass over its own non-zeros.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "changed.hpp"
#include "csr.hpp"
#include "features.hpp"
#include "inner_loops.hpp"
#include "norms.hpp"
#include "phi.hpp"
#include "threads.hpp"

namespace ramodo {

// Below this share of |x|^2 + |s|^2 a squared distance has lost too many digits: it is summed again, directly.
constexpr double kCancelled = 1e-6;

class SparseReferences {
public:
    // Rows [i * size, (i + 1) * size) of `rows` are the i-th subsample.
    SparseReferences(const Csr<int64_t, double>& rows, int64_t subsample_size, Phi phi)
        : n_(rows.n_rows), size_(subsample_size), phi_(phi),
          indptr_(rows.indptr, rows.indptr + rows.n_rows + 1),
          columns_(rows.indices, rows.indices + rows.indptr[rows.n_rows]),
          values_(rows.data, rows.data + rows.indptr[rows.n_rows]),
          features_(distinct(columns_)),
          lookup_(features_.data(), static_cast<int64_t>(features_.size()), rows.n_columns) {
        count_norms();
        turn_around();
    }

    int64_t size() const { return n_; }

    // scores[i] for rows [begin, end) of x.
    template <class I, class V>
    void score(const Csr<I, V>& x, int64_t begin, int64_t end, double* scores) const {
        std::vector<double> dots(static_cast<size_t>(n_));
        std::vector<Hit> hits;
        const int64_t n_subsamples = n_ / size_;
        for (int64_t row = begin; row < end; ++row) {
            const double norm = products(x, row, hits, dots);
            double total = 0;
            for (int64_t s = 0; s < n_subsamples; ++s) total += distance(x, row, norm, dots.data() + s * size_, s * size_);
            scores[row] = total / static_cast<double>(n_subsamples);
        }
    }

    // scores[i] for all rows of x.
    template <class I, class V>
    void score(ThreadPool& pool, const Csr<I, V>& x, double* scores) const {
        parallel_ranges(pool, x.n_rows, 32, [&](int64_t begin, int64_t end) { score(x, begin, end, scores); });
    }

private:
    struct Posting {
        int32_t reference;
        double value;
    };
    // The references that have a feature. Most features have one: it stands in the list itself.
    struct List {
        int32_t count;        // -1: a value for every reference
        int32_t reference;    // where count is 1
        union {
            double value;     // where count is 1
            int64_t start;    // else: in postings_, or in full_
        };
    };
    struct Hit {
        int64_t place;        // in the row, then in lists_
        double value;
    };

    static std::vector<int64_t> distinct(std::vector<int64_t> columns) {
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        return columns;
    }

    void count_norms() {
        norms_.resize(static_cast<size_t>(n_));
        for (int64_t r = 0; r < n_; ++r)
            norms_[r] = squared_norm(values_.data() + indptr_[r], indptr_[r + 1] - indptr_[r]);
    }

    // Features of at least a quarter of the references get one value per reference, the others a list.
    void turn_around() {
        std::vector<int32_t> slots(columns_.size());
        std::vector<int64_t> counts(features_.size(), 0);
        for (size_t k = 0; k < columns_.size(); ++k) ++counts[(slots[k] = lookup_.find(columns_[k]))];
        lists_.resize(features_.size());
        int64_t n_postings = 0, n_full = 0;
        for (size_t f = 0; f < features_.size(); ++f) {
            const bool full = counts[f] > 1 && 4 * counts[f] >= n_;
            lists_[f].count = full ? -1 : static_cast<int32_t>(counts[f]);
            lists_[f].start = full ? n_full : n_postings;
            if (full) n_full += n_;
            else if (counts[f] > 1) n_postings += counts[f];
        }
        full_.assign(static_cast<size_t>(n_full), 0);
        postings_.resize(static_cast<size_t>(n_postings));
        std::vector<int32_t> filled(features_.size(), 0);
        for (int64_t r = 0; r < n_; ++r)
            for (int64_t k = indptr_[r]; k < indptr_[r + 1]; ++k) {
                List& list = lists_[slots[k]];
                if (list.count == 1) list.reference = static_cast<int32_t>(r), list.value = values_[k];
                else if (list.count < 0) full_[list.start + r] = values_[k];
                else postings_[list.start + filled[slots[k]]++] = {static_cast<int32_t>(r), values_[k]};
            }
    }

    // dots[r] = <x, reference r>; returns |x|^2, both with the row's factor. Most features of a row are in no reference, and the lists of the others
    // are far apart in memory: they are looked up for the whole row first, so that they arrive while others are used.
    template <class I, class V>
    double products(const Csr<I, V>& x, int64_t row, std::vector<Hit>& hits, std::vector<double>& dots) const {
        const int64_t begin = x.begin(row), length = x.length(row);
        const I* columns = x.indices + begin;
        const V* data = x.data + begin;
        std::fill(dots.begin(), dots.end(), 0.0);
        if (static_cast<int64_t>(hits.size()) < length) hits.resize(static_cast<size_t>(length));
        int64_t n_hits = 0;
        for (int64_t k = 0; k < length; ++k) {
            hits[n_hits].place = k;
            n_hits += lookup_.knows(load_once(columns + k));
        }
        for (int64_t h = 0; h < n_hits; ++h) {
            const int64_t k = hits[h].place;
            hits[h] = {lookup_.find(load_once(columns + k)), static_cast<double>(data[k])};
            if (hits[h].place < 0) refuse_changed();
            RAMODO_FETCH(&lists_[hits[h].place], 0, 3);
        }
        constexpr int64_t kAhead = 16;
        for (int64_t h = 0; h < n_hits; ++h) {
            if (h + kAhead < n_hits) {
                const List& coming = lists_[hits[h + kAhead].place];
                if (coming.count > 1) RAMODO_FETCH(&postings_[coming.start], 0, 3);
            }
            const List& list = lists_[hits[h].place];
            const double value = hits[h].value;
            if (list.count == 1) {
                dots[list.reference] += value * list.value;
            } else if (list.count < 0) {
                inner_->add_scaled(n_, value, full_.data() + list.start, dots.data());
            } else {
                const Posting* posting = postings_.data() + list.start;
                for (int32_t p = 0; p < list.count; ++p) dots[posting[p].reference] += value * posting[p].value;
            }
        }
        const double factor = x.factor(row);
        if (factor != 1)
            for (double& dot : dots) dot *= factor;
        return factor * factor * squared_norm(data, length);
    }

    // φ of a row and the subsample that starts at reference `first`; its products are lost.
    template <class I, class V>
    double distance(const Csr<I, V>& x, int64_t row, double norm, double* dots, int64_t first) const {
        double smallest = INFINITY;
        for (int64_t i = 0; i < size_; ++i) {
            const double both = norm + norms_[first + i];
            double squared = both - 2 * dots[i];
            if (squared < kCancelled * both) squared = direct(x, row, first + i);
            smallest = std::min(smallest, squared);
            dots[i] = squared;
        }
        return phi_.nearest() ? std::sqrt(smallest) : phi_(dots, size_);
    }

    // |x - s|^2 by walking both rows: exact where the norms cancel, and 0 for identical rows.
    template <class I, class V>
    double direct(const Csr<I, V>& x, int64_t row, int64_t reference) const {
        double total = 0;
        const double factor = x.factor(row);
        int64_t a = x.begin(row), b = indptr_[reference];
        const int64_t a_end = x.end(row), b_end = indptr_[reference + 1];
        while (a < a_end || b < b_end) {
            const int64_t ca = a < a_end ? static_cast<int64_t>(load_once(x.indices + a)) : INT64_MAX;
            const int64_t cb = b < b_end ? columns_[b] : INT64_MAX;
            if (b == b_end && ca == INT64_MAX) refuse_changed();
            const double difference = (ca <= cb ? factor * static_cast<double>(x.data[a]) : 0) - (cb <= ca ? values_[b] : 0);
            total += difference * difference;
            a += ca <= cb;
            b += cb <= ca;
        }
        return total;
    }

    const InnerLoops* inner_ = &inner_loops();
    int64_t n_, size_;
    Phi phi_;
    std::vector<int64_t> indptr_, columns_;
    std::vector<double> values_, norms_;
    std::vector<int64_t> features_;
    FeatureLookup lookup_;
    std::vector<List> lists_;
    std::vector<double> full_;
    std::vector<Posting> postings_;
};

}  // namespace ramodo
