// The strongest contributions to many rows: one row after another through an Explainer.
#pragma once

#include <algorithm>
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

struct Strongest {
    std::vector<int64_t> ends{0};      // of each row, in what follows
    std::vector<int64_t> columns;
    std::vector<double> sums, values;
    std::vector<double> own;           // what each non-zero of the rows adds by itself
};

// `parts`: one for each part of the explainer.
template <class I, class V>
Strongest explain_rows(const Explainer& explainer, const Csr<I, V>& x, const std::vector<RowViews>& parts, int64_t top) {
    Strongest strongest;
    if (x.n_rows == 0) return strongest;
    const int64_t start = x.begin(0);
    strongest.own.resize(static_cast<size_t>(x.end(x.n_rows - 1) - start));
    Explainer::Row row(explainer);
    std::vector<Explainer::View> views(parts.size());
    std::vector<Explainer::Found> found;
    for (int64_t r = 0; r < x.n_rows; ++r) {
        for (size_t i = 0; i < parts.size(); ++i) {
            const RowViews& part = parts[i];
            const int64_t width = explainer.width(static_cast<int64_t>(i));
            views[i] = {part.p + r * width, part.factors[r], part.near + r * part.n_near,
                        part.q + r * part.n_near * width, part.n_near};
        }
        const I* columns = x.indices + x.begin(r);
        const V* values = x.data + x.begin(r);
        const int64_t n = x.length(r);
        row.explain(columns, values, n, views, top, strongest.own.data() + x.begin(r) - start, found);
        for (const auto& [column, sum] : found) {
            const int64_t place = std::lower_bound(columns, columns + n, static_cast<I>(column)) - columns;
            const bool there = place < n && columns[place] == static_cast<I>(column);
            strongest.columns.push_back(column), strongest.sums.push_back(sum);
            strongest.values.push_back(there ? static_cast<double>(values[place]) : 0.0);
        }
        strongest.ends.push_back(static_cast<int64_t>(strongest.columns.size()));
    }
    return strongest;
}

}  // namespace ramodo
