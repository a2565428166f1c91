// φ to references: of sparse and of dense rows, and in the representation.
#include "../sp_dense.hpp"
#include "../sp_small.hpp"
#include "../sp_sparse.hpp"
#include "arrays.hpp"

namespace ramodo {

static void need_subsamples(int64_t n_rows, int64_t subsample_size) {
    need(subsample_size > 0 && n_rows > 0 && n_rows % subsample_size == 0, "references must fill subsamples");
}

static void make_sparse(SparseReferences* self, const Array<int64_t>& indptr, const Array<int64_t>& indices,
                        const Array<double>& data, int64_t n_columns, int64_t subsample_size, int k, bool average) {
    GilReleased released;
    const auto rows = view<int64_t, double>(indptr, indices, data, n_columns);
    need_subsamples(rows.n_rows, subsample_size);
    need_inside(rows);
    new (self) SparseReferences(rows, subsample_size, make_phi(k, average, subsample_size));
}

template <class I, class V>
static void score_sparse(const SparseReferences& self, const Array<int64_t>& indptr, const Array<I>& indices,
                         const Array<V>& data, int64_t n_columns, const Factors& factors, const Out<double>& scores,
                         int n_threads) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns, factors);
    need(static_cast<int64_t>(scores.size()) == x.n_rows, "output of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    self.score(pool, x, scores.data());
}

static void make_dense(DenseReferences* self, const Matrix<double>& rows, int64_t subsample_size, int k, bool average) {
    const int64_t n = static_cast<int64_t>(rows.shape(0)), d = static_cast<int64_t>(rows.shape(1));
    need_subsamples(n, subsample_size);
    GilReleased released;
    new (self) DenseReferences(rows.data(), n, d, subsample_size, make_phi(k, average, subsample_size));
}

template <class V>
static void score_dense(const DenseReferences& self, const Matrix<V>& x, const Factors& factors,
                        const Out<double>& scores, int n_threads) {
    const int64_t n = static_cast<int64_t>(x.shape(0));
    need(static_cast<int64_t>(x.shape(1)) == self.width() && static_cast<int64_t>(scores.size()) == n,
         "arrays of the wrong size");
    const double* of_rows = need_factors(factors, n);
    GilReleased released;
    ThreadPool pool(std::max(1, n_threads));
    self.score(pool, x.data(), n, of_rows, scores.data());
}

static void make_small(SmallReferences* self, const Matrix<float>& rows, int64_t subsample_size, int k, bool average) {
    const int64_t n = static_cast<int64_t>(rows.shape(0));
    need_subsamples(n, subsample_size);
    GilReleased released;
    new (self) SmallReferences(rows.data(), n, static_cast<int>(rows.shape(1)), subsample_size,
                               make_phi(k, average, subsample_size));
}

static void score_small(const SmallReferences& self, const Matrix<float>& rows, const Out<double>& scores, int n_threads) {
    need(static_cast<int>(rows.shape(1)) == self.width() && scores.size() == rows.shape(0), "arrays of the wrong size");
    GilReleased released;
    ThreadPool pool(std::max(1, n_threads));
    self.score(pool, rows.data(), static_cast<int64_t>(rows.shape(0)), scores.data());
}

void bind_distances(nb::module_& m) {
    auto sparse = nb::class_<SparseReferences>(m, "SparseReferences");
    sparse.def("__init__", &make_sparse, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
               "n_columns"_a, "subsample_size"_a, "k"_a, "average"_a);
    for_sparse_types([&](auto index, auto value) {
        sparse.def("score", &score_sparse<decltype(index), decltype(value)>, "indptr"_a.noconvert(),
                   "indices"_a.noconvert(), "data"_a.noconvert(), "n_columns"_a, "factors"_a.noconvert().none(),
                   "scores"_a.noconvert(), "n_threads"_a);
    });
    auto dense = nb::class_<DenseReferences>(m, "DenseReferences");
    dense.def("__init__", &make_dense, "rows"_a.noconvert(), "subsample_size"_a, "k"_a, "average"_a);
    auto bind_score = [&](auto value) {
        dense.def("score", &score_dense<decltype(value)>, "x"_a.noconvert(), "factors"_a.noconvert().none(),
                  "scores"_a.noconvert(), "n_threads"_a);
    };
    bind_score(float{});
    bind_score(double{});
    nb::class_<SmallReferences>(m, "SmallReferences")
        .def("__init__", &make_small, "rows"_a.noconvert(), "subsample_size"_a, "k"_a, "average"_a)
        .def("score", &score_small, "rows"_a.noconvert(), "scores"_a.noconvert(), "n_threads"_a);
}

}  // namespace ramodo
