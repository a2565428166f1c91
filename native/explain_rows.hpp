// The contributions to many rows: one row after another through an Explainer.
#pragma once

#include <cstdint>
#include <vector>

#include "csr.hpp"
#include "explainer.hpp"

namespace ramodo {

// What the scores of all rows make of one part.
struct RowViews {
    const double* p;           // rows x width
    const double* factors;     // one for each row
    const int64_t* near;       // rows x n_near references
    const double* q;           // rows x n_near x width
    int64_t n_near;
};

struct Explained {
    std::vector<double> own, totals;   // of each non-zero of the rows: what it adds by itself, and less its references
    std::vector<int64_t> ends{0};      // of each row, in what follows: the strongest of what it lacks
    std::vector<int64_t> columns;
    std::vector<double> sums;
    std::vector<double> lacking;       // of each row: the sum of all that it lacks, and of how many features
    std::vector<int64_t> n_lacking;
};

// `parts`: one for each part of the explainer.
template <class I, class V>
Explained explain_rows(const Explainer& explainer, const Csr<I, V>& x, const std::vector<RowViews>& parts, int64_t top) {
    Explained explained;
    if (x.n_rows == 0) return explained;
    const int64_t start = x.begin(0);
    explained.own.resize(static_cast<size_t>(x.end(x.n_rows - 1) - start));
    explained.totals.resize(explained.own.size());
    Explainer::Row row(explainer);
    std::vector<Explainer::View> views(parts.size());
    Explainer::Lacking lacking;
    for (int64_t r = 0; r < x.n_rows; ++r) {
        for (size_t i = 0; i < parts.size(); ++i) {
            const RowViews& part = parts[i];
            const int64_t width = explainer.width(static_cast<int64_t>(i));
            views[i] = {part.p + r * width, part.factors[r], part.near + r * part.n_near,
                        part.q + r * part.n_near * width, part.n_near};
        }
        const int64_t at = x.begin(r) - start;
        row.explain(x.indices + x.begin(r), x.data + x.begin(r), x.length(r), views, top, explained.own.data() + at,
                    explained.totals.data() + at, lacking);
        for (const auto& [column, sum] : lacking.strongest) explained.columns.push_back(column), explained.sums.push_back(sum);
        explained.ends.push_back(static_cast<int64_t>(explained.columns.size()));
        explained.lacking.push_back(lacking.total), explained.n_lacking.push_back(lacking.count);
    }
    return explained;
}

}  // namespace ramodo
