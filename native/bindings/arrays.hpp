// Arrays between Python and the kernels: taken as they are, never converted, and given without a copy. What the files of
// this folder share; each binds one kernel. A function lets go of the GIL while it reads or writes arrays, its checks of
// them included; it holds it to make and to keep Python objects.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../csr.hpp"
#include "../memory.hpp"
#include "../phi.hpp"
#include "gil.hpp"

namespace ramodo {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Factors = std::optional<Array<double>>;    // one for each row, or None: all 1

// ---- checks ------------------------------------------------------------------------------------------------------

inline void need(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

inline const double* need_factors(const Factors& factors, int64_t n_rows) {
    need(!factors || static_cast<int64_t>(factors->size()) == n_rows, "one factor per row");
    return factors ? factors->data() : nullptr;
}

// That features are where they should be is not looked at.
template <class I, class V>
Csr<I, V> view(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
               const Factors& factors = std::nullopt, bool may_change = true) {
    need(indptr.size() >= 1, "indptr is empty");
    const int64_t n_rows = static_cast<int64_t>(indptr.size()) - 1;
    const int64_t entries = static_cast<int64_t>(std::min(indices.size(), data.size()));
    need(indptr.data()[0] >= 0 && indptr.data()[n_rows] <= entries, "indptr points outside of indices and data");
    for (int64_t i = 0; i < n_rows; ++i) need(indptr.data()[i] <= indptr.data()[i + 1], "indptr decreases");
    return {indptr.data(), indices.data(), data.data(), n_rows, n_columns, need_factors(factors, n_rows), may_change};
}

template <class I, class V>
void need_inside(const Csr<I, V>& x) {
    for (int64_t k = x.begin(0); k < x.begin(x.n_rows); ++k)
        need(x.indices[k] >= 0 && x.indices[k] < x.n_columns, "feature out of range");
}

inline void need_features(const Array<int64_t>& columns, int64_t n_columns) {
    const int64_t* of = columns.data();
    for (size_t i = 0; i < columns.size(); ++i)
        need(of[i] >= 0 && of[i] < n_columns && (i == 0 || of[i - 1] < of[i]), "features must increase within [0, D)");
}

inline void need_rows(const Array<int64_t>& rows, int64_t n) {
    for (size_t i = 0; i < rows.size(); ++i) need(rows.data()[i] >= 0 && rows.data()[i] < n, "row number out of range");
}

inline Phi make_phi(int k, bool average, int64_t n) {
    need(k >= 1 && k <= n, "k must be from 1 to the number of references or queries");
    return {k, average};
}

// ---- results -----------------------------------------------------------------------------------------------------

template <class T>
auto give(std::vector<T>&& values, size_t n_rows, size_t n_columns) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(kept->data(), {n_rows, n_columns}, owner);
}

template <class T>
auto give(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

template <class T>
auto give(std::unique_ptr<T[]> values, size_t n) {
    T* kept = values.release();
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept, {n}, owner);
}

inline auto give(Buffer&& values, size_t n_rows, size_t n_columns) {
    auto* kept = new Buffer(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Buffer*>(p); });
    return nb::ndarray<nb::numpy, float, nb::ndim<2>>(kept->as<float>(), {n_rows, n_columns}, owner);
}

// bind(index, value) for each type of indices and of values that sparse rows may have.
template <class F>
void for_sparse_types(F&& bind) {
    bind(int32_t{}, float{});
    bind(int32_t{}, double{});
    bind(int64_t{}, float{});
    bind(int64_t{}, double{});
}

}  // namespace ramodo
