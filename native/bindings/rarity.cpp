// Counts of rows by feature, and sums of weights that follow from them.
#include "../rarity.hpp"

#include "arrays.hpp"

namespace ramodo {

template <class I, class V>
static nb::object count(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
                        int n_threads) {
    FeatureCounts found;
    {
        GilReleased released;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns);
        ThreadPool pool(std::max(1, n_threads));
        found = count_features(pool, x);
    }
    return nb::make_tuple(give(std::move(found.columns)), give(std::move(found.counts)));
}

static void make_weights(FeatureWeights* self, const Array<int64_t>& columns, const Array<float>& weights, int64_t n_columns,
                         float unlisted) {
    GilReleased released;
    need(columns.size() == weights.size(), "one weight per feature");
    need_features(columns, n_columns);
    new (self) FeatureWeights(columns.data(), weights.data(), static_cast<int64_t>(columns.size()), n_columns, unlisted);
}

template <class I, class V>
static void sums(const FeatureWeights& self, const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data,
                 const Out<double>& out, int n_threads) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, self.n_columns());
    need(static_cast<int64_t>(out.size()) == x.n_rows, "output of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    self.sums(pool, x, out.data());
}

void bind_rarity(nb::module_& m) {
    nb::class_<FeatureWeights> weights(m, "FeatureWeights");
    weights.def("__init__", &make_weights, "columns"_a.noconvert(), "weights"_a.noconvert(), "n_columns"_a, "unlisted"_a);
    for_sparse_types([&](auto index, auto value) {
        using I = decltype(index);
        using V = decltype(value);
        m.def("count_features", &count<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
              "n_columns"_a, "n_threads"_a, "(features that occur, in how many rows each does)");
        weights.def("sums", &sums<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
                    "out"_a.noconvert(), "n_threads"_a);
    });
}

}  // namespace ramodo
