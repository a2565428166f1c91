// A view of scipy's CSR arrays. Indices are sorted and unique within a row: the door for data (rows.py) sees to it.
#pragma once

#include <cstdint>

namespace ramodo {

template <class I, class V>
struct Csr {
    const int64_t* indptr;
    const I* indices;
    const V* data;
    int64_t n_rows;
    int64_t n_columns;
    const double* factors = nullptr;    // what each row is multiplied by, or null
    bool may_change = true;             // another process may write to indices and data: see changed.hpp

    int64_t begin(int64_t row) const { return indptr[row]; }
    int64_t end(int64_t row) const { return indptr[row + 1]; }
    int64_t length(int64_t row) const { return indptr[row + 1] - indptr[row]; }
    double factor(int64_t row) const { return factors ? factors[row] : 1.0; }
};

}  // namespace ramodo
