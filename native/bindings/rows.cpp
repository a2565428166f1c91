// What is asked of rows by themselves: a scan, lengths, moments of features, which of them are equal.
#include <nanobind/stl/tuple.h>

#include "../distinct.hpp"
#include "../moments.hpp"
#include "../norms.hpp"
#include "../scan.hpp"
#include "arrays.hpp"

namespace ramodo {

template <class I, class V>
static auto scan(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
                 double limit, FeatureSet* seen, int n_threads) {
    GilReleased released;
    ThreadPool pool(std::max(1, n_threads));
    const Scan s = scan_sparse(pool, view<I, V>(indptr, indices, data, n_columns), limit, seen);
    return std::make_tuple(s.bad_row, s.bad_column, s.outside_row, s.outside, s.ordered, s.largest);
}

template <class I, class V>
static void squared_norms(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data,
                          const Out<double>& out, int n_threads) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, 0);
    need(static_cast<int64_t>(out.size()) == x.n_rows, "output of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    for_rows(pool, x, out.data(), [](const V* values, int64_t n) { return squared_norm(values, n); });
}

template <class I, class V>
static void largest_values(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data,
                           const Out<double>& out, int n_threads) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, 0);
    need(static_cast<int64_t>(out.size()) == x.n_rows, "output of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    for_rows(pool, x, out.data(), [](const V* values, int64_t n) { return largest(values, n); });
}

template <class I, class V>
static auto sparse_moments(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data,
                           int64_t n_columns, const Factors& factors) {
    Moments m;
    {
        GilReleased released;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns, factors);
        need_inside(x);
        m = moments(x);
    }
    return std::make_tuple(give(std::move(m.columns)), give(std::move(m.sums)), give(std::move(m.squares)));
}

template <class I, class V>
static void first_equal_sparse(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data,
                               const Out<int64_t>& out, int n_threads) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, 0);
    need(static_cast<int64_t>(out.size()) == x.n_rows, "output of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    const auto bytes = [](const auto* values, int64_t n) {
        return Bytes{reinterpret_cast<const unsigned char*>(values), static_cast<size_t>(n) * sizeof(*values)};
    };
    first_equal(pool, x.n_rows, [&](int64_t row) {
        return RowBytes{bytes(x.indices + x.begin(row), x.length(row)), bytes(x.data + x.begin(row), x.length(row))};
    }, out.data());
}

template <class V>
static void first_equal_dense(const Matrix<V>& values, const Out<int64_t>& out, int n_threads) {
    GilReleased released;
    const size_t n_rows = values.shape(0), width = values.shape(1);
    need(out.size() == n_rows, "output of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    first_equal(pool, static_cast<int64_t>(n_rows), [&](int64_t row) {
        const V* at = values.data() + static_cast<size_t>(row) * width;
        return RowBytes{Bytes{reinterpret_cast<const unsigned char*>(at), width * sizeof(V)}, Bytes{nullptr, 0}};
    }, out.data());
}

void bind_rows(nb::module_& m) {
    nb::class_<FeatureSet>(m, "FeatureSet")
        .def("__init__",
             [](FeatureSet* self, int64_t n_columns, int64_t n_entries) {
                 GilReleased released;
                 new (self) FeatureSet(n_columns, n_entries);
             },
             "n_columns"_a, "n_entries"_a)
        .def("count", [](const FeatureSet& self) {
            GilReleased released;
            return self.count();
        });
    for_sparse_types([&](auto index, auto value) {
        using I = decltype(index);
        using V = decltype(value);
        m.def("scan", &scan<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_columns"_a,
              "limit"_a, "seen"_a.none(), "n_threads"_a);
        m.def("squared_norms", &squared_norms<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
              "data"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
        m.def("largest", &largest_values<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
              "out"_a.noconvert(), "n_threads"_a);
        m.def("first_equal", &first_equal_sparse<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
              "data"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
        m.def("moments", &sparse_moments<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
              "n_columns"_a, "factors"_a.noconvert().none());
    });
    m.def("first_equal", &first_equal_dense<float>, "values"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
    m.def("first_equal", &first_equal_dense<double>, "values"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
}

}  // namespace ramodo
