// The representation of sparse and of dense rows.
#include "projection.hpp"

namespace ramodo {

static void make_projection(BoundProjection* self, const Array<int64_t>& columns, const Matrix<float>& weights,
                            int64_t n_columns, uint64_t seed, float limit, float slope) {
    need(columns.size() == weights.shape(0) && weights.shape(1) > 0, "one row of weights per feature");
    Matrix<float> kept = weights;
    GilReleased released;
    need_features(columns, n_columns);
    Projection native(columns.data(), weights.data(), static_cast<int64_t>(columns.size()), n_columns,
                      static_cast<int>(weights.shape(1)), InitialWeights{seed, limit});
    new (self) BoundProjection{std::move(native), std::move(kept), slope};
}

static void need_room(const Projection& projection, int64_t n_rows, const OutMatrix<float>& out) {
    need(static_cast<int64_t>(out.shape(0)) == n_rows && static_cast<int>(out.shape(1)) == projection.width(),
         "output of the wrong size");
}

template <class I, class V>
static void sparse(const BoundProjection& self, const Array<int64_t>& indptr, const Array<I>& indices,
                   const Array<V>& data, const Factors& factors, const OutMatrix<float>& out, int n_threads,
                   bool may_change) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, self.native.n_columns(), factors, may_change);
    need_room(self.native, x.n_rows, out);
    ThreadPool pool(std::max(1, n_threads));
    self.native.represent(pool, x, self.slope, out.data());
}

template <class V>
static void dense(const BoundProjection& self, const Matrix<V>& x, const Factors& factors, const OutMatrix<float>& out,
                  int n_threads) {
    const int64_t n = static_cast<int64_t>(x.shape(0));
    need(static_cast<int64_t>(x.shape(1)) == self.native.n_columns(), "wrong number of features");
    need_room(self.native, n, out);
    const double* of_rows = need_factors(factors, n);
    GilReleased released;
    ThreadPool pool(std::max(1, n_threads));
    self.native.represent(pool, x.data(), n, of_rows, self.slope, out.data());
}

void bind_projection(nb::module_& m) {
    auto projection = nb::class_<BoundProjection>(m, "Projection");
    projection.def("__init__", &make_projection, "columns"_a.noconvert(), "weights"_a.noconvert(), "n_columns"_a,
                   "seed"_a, "limit"_a, "slope"_a);
    for_sparse_types([&](auto index, auto value) {
        projection.def("sparse", &sparse<decltype(index), decltype(value)>, "indptr"_a.noconvert(),
                       "indices"_a.noconvert(), "data"_a.noconvert(), "factors"_a.noconvert().none(),
                       "out"_a.noconvert(), "n_threads"_a, "may_change"_a = true);
    });
    auto bind_dense = [&](auto value) {
        projection.def("dense", &dense<decltype(value)>, "x"_a.noconvert(), "factors"_a.noconvert().none(),
                       "out"_a.noconvert(), "n_threads"_a);
    };
    bind_dense(float{});
    bind_dense(double{});
}

}  // namespace ramodo
