// Sum and sum of squares of each feature that occurs, over all rows.
#pragma once

#include <cstdint>
#include <vector>

#include "changed.hpp"
#include "csr.hpp"
#include "features.hpp"

namespace ramodo {

struct Moments {
    std::vector<int64_t> columns;
    std::vector<double> sums, squares;
};

template <class I, class V>
Moments moments(const Csr<I, V>& x) {
    const int64_t begin = x.begin(0), end = x.begin(x.n_rows);
    FeatureSet seen(x.n_columns, end - begin);
    seen.insert(x.indices + begin, end - begin);
    Moments m;
    m.columns = seen.sorted();
    m.sums.resize(m.columns.size());
    m.squares.resize(m.columns.size());
    const FeatureLookup lookup(m.columns.data(), static_cast<int64_t>(m.columns.size()), x.n_columns);
    for (int64_t row = 0; row < x.n_rows; ++row)
        for (int64_t k = x.begin(row); k < x.end(row); ++k) {
            const double value = x.factor(row) * static_cast<double>(x.data[k]);
            const int32_t place = lookup.find(load_once(x.indices + k));
            if (place < 0) refuse_changed();
            m.sums[place] += value;
            m.squares[place] += value * value;
        }
    return m;
}

}  // namespace ramodo
