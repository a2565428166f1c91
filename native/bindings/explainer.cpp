// What each feature adds to the score of each row.
#include "../explainer.hpp"

#include <nanobind/stl/vector.h>

#include "../explain_rows.hpp"
#include "projection.hpp"

namespace ramodo {

// Keeps the projections and weights that its parts use.
struct BoundExplainer {
    Explainer native;
    std::vector<nb::object> kept;
};

static void make_explainer(BoundExplainer* self, const Array<int64_t>& columns, int64_t n_features) {
    GilReleased released;
    need_features(columns, n_features);
    new (self) BoundExplainer{Explainer(columns.data(), static_cast<int64_t>(columns.size()), n_features), {}};
}

static void need_references(const Explainer& explainer, const Array<int64_t>& indptr, const Array<int32_t>& slots,
                            const Array<double>& values) {
    const bool every = slots.size() == 0;      // a value for every feature
    const int64_t n_slots = explainer.n_slots();
    const int64_t entries = static_cast<int64_t>(every ? values.size() : std::min(slots.size(), values.size()));
    need(indptr.size() >= 1 && indptr.data()[0] == 0, "indptr does not begin at 0");
    for (size_t r = 0; r + 1 < indptr.size(); ++r) {
        const int64_t end = indptr.data()[r + 1], n = end - indptr.data()[r];
        need(n >= 0 && end <= entries && (!every || n == 0 || n == n_slots), "indptr points outside of the values");
    }
    for (size_t k = 0; k < slots.size(); ++k)
        need(slots.data()[k] >= 0 && slots.data()[k] < n_slots, "slot out of range");
}

template <class T>
static std::vector<T> copy(const Array<T>& values) {
    return {values.data(), values.data() + values.size()};
}

static void add_part(BoundExplainer& self, nb::object projection, const Array<int64_t>& indptr,
                     const Array<int32_t>& slots, const Array<double>& values) {
    const Projection& native = nb::cast<const BoundProjection&>(projection).native;
    self.kept.push_back(std::move(projection));
    GilReleased released;
    need(native.n_columns() == self.native.n_columns(), "a projection of other features");
    need_references(self.native, indptr, slots, values);
    self.native.add_part(native, copy(indptr), copy(slots), copy(values));
}

static void add_squares(BoundExplainer& self, const Array<int64_t>& indptr, const Array<int32_t>& slots,
                        const Array<double>& values) {
    GilReleased released;
    need_references(self.native, indptr, slots, values);
    self.native.add_squares(copy(indptr), copy(slots), copy(values));
}

static void add_presence(BoundExplainer& self, nb::object weights) {
    const FeatureWeights& native = nb::cast<const FeatureWeights&>(weights);
    self.kept.push_back(std::move(weights));
    need(native.n_columns() == self.native.n_columns(), "weights of other features");
    self.native.add_presence(native);
}

using Matrices = std::vector<Matrix<double>>;

// One of each for each part; q has a row of numbers for each row, however many references count.
static std::vector<RowViews> need_views(const Explainer& explainer, size_t n_rows, const Matrices& p,
                                        const std::vector<Array<double>>& factors,
                                        const std::vector<Matrix<int64_t>>& near, const Matrices& q) {
    const size_t n_parts = static_cast<size_t>(explainer.n_parts());
    need(p.size() == n_parts && factors.size() == n_parts && near.size() == n_parts && q.size() == n_parts,
         "one for each part");
    std::vector<RowViews> views;
    for (size_t i = 0; i < n_parts; ++i) {
        const size_t width = static_cast<size_t>(explainer.width(static_cast<int64_t>(i)));
        need(p[i].shape(0) == n_rows && p[i].shape(1) == width && factors[i].size() == n_rows &&
                 near[i].shape(0) == n_rows && q[i].shape(0) == n_rows && q[i].shape(1) == near[i].shape(1) * width,
             "arrays of the wrong size");
        const int64_t n_references = explainer.n_references(static_cast<int64_t>(i));
        for (size_t k = 0; k < near[i].size(); ++k)
            need(near[i].data()[k] >= 0 && near[i].data()[k] < n_references, "no such reference");
        views.push_back({p[i].data(), factors[i].data(), near[i].data(), q[i].data(), static_cast<int64_t>(near[i].shape(1))});
    }
    return views;
}

template <class I, class V>
static nb::object explain(const BoundExplainer& self, const Array<int64_t>& indptr, const Array<I>& indices,
                          const Array<V>& data, const Matrices& p, const std::vector<Array<double>>& factors,
                          const std::vector<Matrix<int64_t>>& near, const Matrices& q, int64_t top) {
    Explained found;
    {
        GilReleased released;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, self.native.n_columns());
        const auto views = need_views(self.native, static_cast<size_t>(x.n_rows), p, factors, near, q);
        need_inside(x);
        found = explain_rows(self.native, x, views, top);
    }
    return nb::make_tuple(give(std::move(found.own)), give(std::move(found.totals)), give(std::move(found.ends)),
                          give(std::move(found.columns)), give(std::move(found.sums)), give(std::move(found.lacking)),
                          give(std::move(found.n_lacking)));
}

void bind_explainer(nb::module_& m) {
    auto explainer = nb::class_<BoundExplainer>(m, "Explainer");
    explainer.def("__init__", &make_explainer, "columns"_a.noconvert(), "n_features"_a)
        .def("add_part", &add_part, "projection"_a, "indptr"_a.noconvert(), "slots"_a.noconvert(), "values"_a.noconvert())
        .def("add_squares", &add_squares, "indptr"_a.noconvert(), "slots"_a.noconvert(), "values"_a.noconvert())
        .def("add_presence", &add_presence, "weights"_a);
    for_sparse_types([&](auto index, auto value) {
        explainer.def("explain", &explain<decltype(index), decltype(value)>, "indptr"_a.noconvert(),
                      "indices"_a.noconvert(), "data"_a.noconvert(), "p"_a, "factors"_a, "near"_a, "q"_a, "top"_a);
    });
}

}  // namespace ramodo
