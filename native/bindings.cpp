// With gil.hpp the only file that knows Python. Arrays are taken as they are, never converted. Every function lets go of
// the GIL while it reads or writes arrays, its checks of them included; it holds it to make and to keep Python objects.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "dense_training.hpp"
#include "explainer.hpp"
#include "feature_sums.hpp"
#include "gil.hpp"
#include "moments.hpp"
#include "norms.hpp"
#include "projection.hpp"
#include "scan.hpp"
#include "sp_dense.hpp"
#include "sp_small.hpp"
#include "sp_sparse.hpp"
#include "sparse_training.hpp"
#include "svmlight.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace ramodo;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Factors = std::optional<Array<double>>;    // one for each row, or None: all 1

static void need(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

template <class I, class V>
static Csr<I, V> view(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
                      const Factors& factors = std::nullopt) {
    need(indptr.size() >= 1, "indptr is empty");
    const int64_t n_rows = static_cast<int64_t>(indptr.size()) - 1;
    const int64_t entries = static_cast<int64_t>(std::min(indices.size(), data.size()));
    need(indptr.data()[0] >= 0 && indptr.data()[n_rows] <= entries, "indptr points outside of indices and data");
    for (int64_t i = 0; i < n_rows; ++i) need(indptr.data()[i] <= indptr.data()[i + 1], "indptr decreases");
    need(!factors || static_cast<int64_t>(factors->size()) == n_rows, "one factor per row");
    return {indptr.data(), indices.data(), data.data(), n_rows, n_columns, factors ? factors->data() : nullptr};
}

// The factors of some rows, in single precision.
static std::vector<float> factors_of(const Factors& factors, const Array<int64_t>& rows, int64_t n_rows) {
    if (!factors) return {};
    need(static_cast<int64_t>(factors->size()) == n_rows, "one factor per row");
    std::vector<float> out;
    for (size_t i = 0; i < rows.size(); ++i) out.push_back(static_cast<float>(factors->data()[rows.data()[i]]));
    return out;
}

template <class T>
static auto give(std::vector<T>&& values, size_t n_rows, size_t n_columns) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(kept->data(), {n_rows, n_columns}, owner);
}

template <class T>
static auto give(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

static Phi make_phi(int k, bool average, int64_t n) {
    need(k >= 1 && k <= n, "k must be from 1 to the number of references or queries");
    return {k, average};
}

static void need_features(const Array<int64_t>& columns, int64_t n_columns) {
    for (size_t i = 0; i < columns.size(); ++i)
        need(columns.data()[i] >= 0 && columns.data()[i] < n_columns && (i == 0 || columns.data()[i - 1] < columns.data()[i]),
             "features must increase within [0, D)");
}

static void need_rows(const Array<int64_t>& rows, int64_t n) {
    for (size_t i = 0; i < rows.size(); ++i) need(rows.data()[i] >= 0 && rows.data()[i] < n, "row number out of range");
}

// With the GIL.
static void poll_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// ---- trainers ----------------------------------------------------------------------------------------------------

// Keeps the arrays that a trainer reads alive.
class Trainer {
public:
    explicit Trainer(int n_queries) : triplet_size_(n_queries + 2) {}

    void run(const Matrix<int64_t>& triplets, int64_t batch_size, const Out<double>& losses) {
        GilReleased released;
        const int64_t n = check(triplets);
        need(batch_size > 0 && static_cast<int64_t>(losses.size()) == (n + batch_size - 1) / batch_size,
             "one loss per batch");
        training_->run(triplets.data(), n, batch_size, losses.data(), [&] { released.taken(poll_signals); });
    }

    auto begin(const Matrix<int64_t>& triplets) {
        int64_t n = 0;
        std::vector<float> hidden;
        std::vector<int32_t> places;
        {
            GilReleased released;
            n = check(triplets);
            training_->begin(triplets.data(), n);
            const int m = training_->m(), width = training_->width();
            for (int64_t r = 0; r < training_->n_rows(); ++r)
                hidden.insert(hidden.end(), training_->hidden() + r * width, training_->hidden() + r * width + m);
            places.assign(training_->places(), training_->places() + triplets.size());
        }
        poll_signals();
        const size_t n_rows = static_cast<size_t>(training_->n_rows());
        return std::make_pair(give(std::move(hidden), n_rows, static_cast<size_t>(training_->m())),
                              give(std::move(places), static_cast<size_t>(n), static_cast<size_t>(triplet_size_)));
    }

    void end(const Matrix<float>& gradient) {
        need(static_cast<bool>(training_), "training is over");
        need(static_cast<int64_t>(gradient.shape(0)) == training_->n_rows() &&
                 static_cast<int>(gradient.shape(1)) == training_->m(), "one gradient for each row of the batch");
        GilReleased released;
        training_->end(gradient.data());
    }

    void start_from(const Array<int64_t>& columns, const Matrix<float>& weights) {
        need(static_cast<bool>(training_), "training is over");
        need(columns.size() == weights.shape(0) && static_cast<int>(weights.shape(1)) == training_->m(),
             "one row of weights per feature");
        GilReleased released;
        need_features(columns, n_columns_);
        training_->start_from(columns.data(), static_cast<int64_t>(columns.size()), weights.data());
    }

protected:
    int64_t check(const Matrix<int64_t>& triplets) const {
        need(static_cast<int>(triplets.shape(1)) == triplet_size_, "a triplet has n_queries + 2 rows");
        need(static_cast<bool>(training_), "training is over");
        for (size_t i = 0; i < triplets.size(); ++i)
            need(triplets.data()[i] >= 0 && triplets.data()[i] < n_rows_, "triplet row out of range");
        return static_cast<int64_t>(triplets.shape(0));
    }
    template <class... T>
    void keep(T&&... arrays) {
        (kept_.push_back(nb::cast(arrays)), ...);
    }
    std::unique_ptr<Training> training_;
    std::vector<nb::object> kept_;
    int64_t n_rows_ = 0, n_columns_ = 0;
    int triplet_size_;
};

static TrainingOptions training_options(int m, int n_queries, int k, bool average, double margin, float slope,
                                        double scale, uint64_t seed, float limit, float rate, float rho, float epsilon,
                                        int n_threads) {
    need(m > 0 && n_queries > 0 && n_threads > 0, "sizes must be positive");
    return {m, n_queries, make_phi(k, average, n_queries), margin, slope, scale, {seed, limit}, {rate, rho, epsilon},
            n_threads};
}

class SparseTrainer : public Trainer {
public:
    template <class I, class V>
    SparseTrainer(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
                  const Factors& factors, const Array<int64_t>& rows, const TrainingOptions& options)
        : Trainer(options.n_queries) {
        if (start(indptr, indices, data, n_columns, factors, rows, options)) keep(indices, data);
    }

    auto finish() {
        need(static_cast<bool>(training_), "training is over");
        auto* weights = new Buffer();
        nb::capsule owner(weights, [](void* p) noexcept { delete static_cast<Buffer*>(p); });
        auto* columns = new std::vector<int64_t>();
        nb::capsule columns_owner(columns, [](void* p) noexcept { delete static_cast<std::vector<int64_t>*>(p); });
        const size_t m = static_cast<size_t>(training_->m());
        {
            GilReleased released;
            *columns = finish_(*weights);
            training_.reset();
        }
        const size_t n = columns->size();
        return std::make_pair(nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(columns->data(), {n}, columns_owner),
                              nb::ndarray<nb::numpy, float, nb::ndim<2>>(weights->as<float>(), {n, m}, owner));
    }

private:
    // True where training reads the rows where they are.
    template <class I, class V>
    bool start(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
               const Factors& factors, const Array<int64_t>& rows, const TrainingOptions& options) {
        GilReleased released;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns);
        need_rows(rows, x.n_rows);
        n_rows_ = static_cast<int64_t>(rows.size());
        n_columns_ = n_columns;
        std::vector<float> own_factors = factors_of(factors, rows, x.n_rows);
        if constexpr (sizeof(I) == 4) {
            if (in_place(n_columns, count_entries(x, rows.data(), n_rows_))) {
                train(select_in_place(x, rows.data(), n_rows_), options, std::move(own_factors));
                return true;
            }
        }
        ThreadPool pool(options.n_threads);
        train(select_copy(pool, x, rows.data(), n_rows_), options, std::move(own_factors));
        return false;
    }

    template <class V>
    void train(Selection<V>&& selection, const TrainingOptions& options, std::vector<float> factors) {
        auto* training = new SparseTraining<V>(std::move(selection), options, std::move(factors));
        training_.reset(training);
        finish_ = [training](Buffer& weights) { return training->finish(weights); };
    }
    std::function<std::vector<int64_t>(Buffer&)> finish_;
};

class DenseTrainer : public Trainer {
public:
    template <class V>
    DenseTrainer(const Matrix<V>& x, const Factors& factors, const Array<int64_t>& rows, const TrainingOptions& options)
        : Trainer(options.n_queries) {
        keep(x);
        GilReleased released;
        need_rows(rows, static_cast<int64_t>(x.shape(0)));
        n_rows_ = static_cast<int64_t>(rows.size());
        n_columns_ = static_cast<int64_t>(x.shape(1));
        auto* training = new DenseTraining<V>(x.data(), n_columns_, rows.data(), n_rows_, options,
                                              factors_of(factors, rows, static_cast<int64_t>(x.shape(0))));
        training_.reset(training);
        weights_ = [training](float* out) { training->weights(out); };
    }
    void weights(const OutMatrix<float>& out) {
        need(static_cast<int64_t>(out.shape(0)) == n_columns_ && static_cast<int>(out.shape(1)) == training_->m(),
             "output of the wrong size");
        GilReleased released;
        weights_(out.data());
    }

private:
    std::function<void(float*)> weights_;
};

// ---- projection --------------------------------------------------------------------------------------------------

class BoundProjection {
public:
    BoundProjection(const Array<int64_t>& columns, const Matrix<float>& weights, int64_t n_columns, uint64_t seed,
                    float limit, float slope)
        : weights_(weights), slope_(slope) {
        need(columns.size() == weights.shape(0) && weights.shape(1) > 0, "one row of weights per feature");
        GilReleased released;
        need_features(columns, n_columns);
        projection_ = std::make_unique<Projection>(columns.data(), weights.data(), static_cast<int64_t>(columns.size()),
                                                   n_columns, static_cast<int>(weights.shape(1)),
                                                   InitialWeights{seed, limit});
    }

    template <class I, class V>
    void sparse(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, const Factors& factors,
                const OutMatrix<float>& out, int n_threads) const {
        GilReleased released;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, projection_->n_columns(), factors);
        check(x.n_rows, out);
        ThreadPool pool(std::max(1, n_threads));
        parallel_ranges(pool, x.n_rows, 64, [&](int64_t begin, int64_t end) {
            projection_->rows(x, begin, end, out.data());
            const int m = projection_->width();
            for (int64_t r = begin; r < end; ++r) activate(out.data() + r * m, m, static_cast<float>(x.factor(r)), slope_);
        });
    }

    template <class V>
    void dense(const Matrix<V>& x, const Factors& factors, const OutMatrix<float>& out, int n_threads) {
        need(static_cast<int64_t>(x.shape(1)) == projection_->n_columns(), "wrong number of features");
        const int64_t n = static_cast<int64_t>(x.shape(0)), d = static_cast<int64_t>(x.shape(1));
        check(n, out);
        need(!factors || static_cast<int64_t>(factors->size()) == n, "one factor per row");
        GilReleased released;
        const int m = projection_->width(), width = padded_width(m);
        std::vector<float> room;
        const float* all = projection_->all_weights(room);
        ThreadPool pool(std::max(1, n_threads));
        parallel_ranges(pool, n, 32, [&](int64_t begin, int64_t end) {
            std::vector<const V*> rows;
            for (int64_t r = begin; r < end; ++r) rows.push_back(x.data() + r * d);
            std::vector<float> hidden(static_cast<size_t>((end - begin) * width));
            project_dense(rows.data(), end - begin, d, all, width, hidden.data());
            for (int64_t r = begin; r < end; ++r) {
                float* row = hidden.data() + (r - begin) * width;
                activate(row, m, factors ? static_cast<float>(factors->data()[r]) : 1.0f, slope_);
                std::memcpy(out.data() + r * m, row, sizeof(float) * m);
            }
        });
    }

    const Projection& native() const { return *projection_; }

private:
    void check(int64_t n_rows, const OutMatrix<float>& out) const {
        need(static_cast<int64_t>(out.shape(0)) == n_rows && static_cast<int>(out.shape(1)) == projection_->width(),
             "output of the wrong size");
    }
    Matrix<float> weights_;
    float slope_;
    std::unique_ptr<Projection> projection_;
};

// ---- references --------------------------------------------------------------------------------------------------

static void make_references(SparseReferences* self, const Array<int64_t>& indptr, const Array<int64_t>& indices,
                            const Array<double>& data, int64_t n_columns, int64_t subsample_size, int k, bool average) {
    GilReleased released;
    const auto rows = view<int64_t, double>(indptr, indices, data, n_columns);
    need(subsample_size > 0 && rows.n_rows > 0 && rows.n_rows % subsample_size == 0, "references must fill subsamples");
    const Phi phi = make_phi(k, average, subsample_size);
    new (self) SparseReferences(rows, subsample_size, phi);
}

template <class I, class V>
static void score_sparse(const SparseReferences& references, const Array<int64_t>& indptr, const Array<I>& indices,
                         const Array<V>& data, int64_t n_columns, const Factors& factors, const Out<double>& scores,
                         int n_threads) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns, factors);
    need(static_cast<int64_t>(scores.size()) == x.n_rows, "output of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    parallel_ranges(pool, x.n_rows, 32, [&](int64_t begin, int64_t end) { references.score(x, begin, end, scores.data()); });
}

template <class I, class V>
static auto scan(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
                 double limit, FeatureSet& seen, int n_threads) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns);
    ThreadPool pool(std::max(1, n_threads));
    const Scan s = scan_sparse(pool, x, limit, seen);
    return std::make_tuple(s.bad_row, s.bad_column, s.outside_row, s.outside, s.ordered, s.largest);
}

template <class I, class V, class F>
static void for_rows(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, const Out<double>& out,
                     int n_threads, F&& f) {
    GilReleased released;
    const Csr<I, V> x = view<I, V>(indptr, indices, data, 0);
    need(static_cast<int64_t>(out.size()) == x.n_rows, "output of the wrong size");
    ThreadPool pool(std::max(1, n_threads));
    parallel_ranges(pool, x.n_rows, 256, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) out.data()[r] = f(x.data + x.begin(r), x.length(r));
    });
}

template <class I, class V>
static void squared_norms_sparse(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data,
                                 const Out<double>& out, int n_threads) {
    for_rows(indptr, indices, data, out, n_threads, [](const V* values, int64_t n) { return squared_norm(values, n); });
}

template <class I, class V>
static void largest_sparse(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data,
                           const Out<double>& out, int n_threads) {
    for_rows(indptr, indices, data, out, n_threads, [](const V* values, int64_t n) { return largest(values, n); });
}

template <class I, class V>
static auto moments_sparse(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data,
                           int64_t n_columns, const Factors& factors) {
    Moments m;
    {
        GilReleased released;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns, factors);
        for (int64_t k = x.begin(0); k < x.begin(x.n_rows); ++k)
            need(x.indices[k] >= 0 && x.indices[k] < n_columns, "feature out of range");
        m = moments(x);
    }
    return std::make_tuple(give(std::move(m.columns)), give(std::move(m.sums)), give(std::move(m.squares)));
}

static double hinge(const Matrix<float>& hidden, const Matrix<int32_t>& triplets, int k, bool average, double margin,
                    const OutMatrix<float>& gradient) {
    const int64_t n_rows = static_cast<int64_t>(hidden.shape(0)), n_triplets = static_cast<int64_t>(triplets.shape(0));
    const int m = static_cast<int>(hidden.shape(1)), n_queries = static_cast<int>(triplets.shape(1)) - 2;
    need(gradient.shape(0) == hidden.shape(0) && gradient.shape(1) == hidden.shape(1), "output of the wrong size");
    need(n_triplets > 0 && n_queries > 0, "triplets hold queries, a positive and a negative");
    GilReleased released;
    for (size_t i = 0; i < triplets.size(); ++i)
        need(triplets.data()[i] >= 0 && triplets.data()[i] < n_rows, "triplet row out of range");
    Hinge loss(m, m, n_queries, make_phi(k, average, n_queries), margin, 1.0);
    return loss(hidden.data(), n_rows, triplets.data(), n_triplets, gradient.data());
}

// ---- contributions -----------------------------------------------------------------------------------------------

template <class I>
static void add_sums(FeatureSums& self, const Array<I>& columns, const Array<double>& sums) {
    need(columns.size() == sums.size(), "arrays of the wrong size");
    GilReleased released;
    for (size_t k = 0; k < columns.size(); ++k) need(columns.data()[k] >= 0, "feature out of range");
    self.add(columns.data(), sums.data(), static_cast<int64_t>(columns.size()));
}

static nb::object top_sums(const FeatureSums& self, int64_t n) {
    std::vector<int64_t> columns;
    std::vector<double> sums;
    {
        GilReleased released;
        for (const auto& [column, sum] : self.top(n)) columns.push_back(column), sums.push_back(sum);
    }
    return nb::make_tuple(give(std::move(columns)), give(std::move(sums)));
}

// Keeps the projections that its parts use.
struct BoundExplainer {
    Explainer native;
    std::vector<nb::object> kept;
};

static void need_references(const Explainer& explainer, const Array<int64_t>& indptr, const Array<int32_t>& slots,
                            const Array<double>& values) {
    const bool every = slots.size() == 0;      // a value for every feature
    const int64_t n_slots = explainer.n_slots(), entries = static_cast<int64_t>(every ? values.size() : std::min(slots.size(), values.size()));
    need(indptr.size() >= 1 && indptr.data()[0] == 0, "indptr does not begin at 0");
    for (size_t r = 0; r + 1 < indptr.size(); ++r) {
        const int64_t n = indptr.data()[r + 1] - indptr.data()[r];
        need(n >= 0 && indptr.data()[r + 1] <= entries && (!every || n == 0 || n == n_slots), "indptr points outside of the values");
    }
    for (size_t k = 0; k < slots.size(); ++k) need(slots.data()[k] >= 0 && slots.data()[k] < n_slots, "slot out of range");
}

static void add_part(BoundExplainer& self, nb::object projection, const Array<int64_t>& indptr, const Array<int32_t>& slots,
                     const Array<double>& values) {
    const Projection& native = nb::cast<const BoundProjection&>(projection).native();
    self.kept.push_back(std::move(projection));
    GilReleased released;
    need(native.n_columns() == self.native.n_columns(), "a projection of other features");
    need_references(self.native, indptr, slots, values);
    self.native.add_part(native, {indptr.data(), indptr.data() + indptr.size()}, {slots.data(), slots.data() + slots.size()},
                         {values.data(), values.data() + values.size()});
}

static void add_squares(BoundExplainer& self, const Array<int64_t>& indptr, const Array<int32_t>& slots, const Array<double>& values) {
    GilReleased released;
    need_references(self.native, indptr, slots, values);
    self.native.add_squares({indptr.data(), indptr.data() + indptr.size()}, {slots.data(), slots.data() + slots.size()},
                            {values.data(), values.data() + values.size()});
}

// Rows with p and factors of each part, and near (rows x references) and q (the same, flat) of those that compare: ends,
// features, sums and values of the strongest, and what each non-zero adds.
template <class I, class V>
static nb::object explain_rows(const BoundExplainer& self, const Array<int64_t>& indptr, const Array<I>& indices,
                               const Array<V>& data, const std::vector<Matrix<double>>& p, const std::vector<Array<double>>& factors,
                               const std::vector<Matrix<int64_t>>& near, const std::vector<Matrix<double>>& q, int64_t top) {
    std::vector<int64_t> ends{0}, columns;
    std::vector<double> sums, values, own;
    {
        GilReleased released;
        const Explainer& native = self.native;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, native.n_columns());
        const size_t n_parts = static_cast<size_t>(native.n_parts()), n_rows = static_cast<size_t>(x.n_rows);
        need(p.size() == n_parts && factors.size() == n_parts && near.size() == n_parts && q.size() == n_parts, "one for each part");
        for (size_t i = 0; i < n_parts; ++i) {
            const size_t width = static_cast<size_t>(native.width(static_cast<int64_t>(i)));
            need(p[i].shape(0) == n_rows && p[i].shape(1) == width && factors[i].size() == n_rows && near[i].shape(0) == n_rows &&
                 q[i].shape(0) == n_rows && q[i].shape(1) == near[i].shape(1) * width, "arrays of the wrong size");
            for (size_t k = 0; k < near[i].size(); ++k)
                need(near[i].data()[k] >= 0 && near[i].data()[k] < native.n_references(static_cast<int64_t>(i)), "no such reference");
        }
        for (int64_t k = n_rows ? x.begin(0) : 0; n_rows && k < x.end(x.n_rows - 1); ++k)
            need(x.indices[k] >= 0 && x.indices[k] < x.n_columns, "feature out of range");
        const int64_t start = n_rows ? x.begin(0) : 0, n_entries = n_rows ? x.end(x.n_rows - 1) - start : 0;
        own.resize(static_cast<size_t>(n_entries));
        Explainer::Row row(native);
        std::vector<Explainer::View> views(n_parts);
        std::vector<Explainer::Found> found;
        for (size_t r = 0; r < n_rows; ++r) {
            for (size_t i = 0; i < n_parts; ++i)
                views[i] = {p[i].data() + r * p[i].shape(1), factors[i].data()[r], near[i].data() + r * near[i].shape(1),
                            q[i].data() + r * q[i].shape(1), static_cast<int64_t>(near[i].shape(1))};
            const int64_t at = x.begin(static_cast<int64_t>(r)), n = x.length(static_cast<int64_t>(r));
            row.explain(x.indices + at, x.data + at, n, views, top, own.data() + at - start, found);
            for (const auto& [column, sum] : found) {
                const I* place = std::lower_bound(x.indices + at, x.indices + at + n, static_cast<I>(column));
                const bool there = place != x.indices + at + n && *place == static_cast<I>(column);
                columns.push_back(column), sums.push_back(sum);
                values.push_back(there ? static_cast<double>(x.data[place - x.indices]) : 0.0);
            }
            ends.push_back(static_cast<int64_t>(columns.size()));
        }
    }
    return nb::make_tuple(give(std::move(ends)), give(std::move(columns)), give(std::move(sums)), give(std::move(values)),
                          give(std::move(own)));
}

template <class I, class V>
static void bind_explainer(nb::class_<BoundExplainer>& explainer) {
    explainer.def("explain", &explain_rows<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "p"_a,
                  "factors"_a, "near"_a, "q"_a, "top"_a);
}

// ---- text --------------------------------------------------------------------------------------------------------

template <class T>
static auto give(std::unique_ptr<T[]> values, size_t n) {
    T* kept = values.release();
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept, {n}, owner);
}

static nb::object read_svmlight_text(const Array<uint8_t>& text, int n_threads) {
    const char* bytes = reinterpret_cast<const char*>(text.data());
    const int64_t n_bytes = static_cast<int64_t>(text.size());
    std::unique_ptr<double[]> labels, values;
    std::unique_ptr<int64_t[]> lengths, wide;
    std::unique_ptr<int32_t[]> narrow;
    std::unique_ptr<float[]> single;
    SvmFound found;
    size_t n_rows = 0, n_entries = 0;
    {
        GilReleased released;
        ThreadPool pool(std::max(1, n_threads));
        const std::vector<SvmPart> parts = count_svmlight(pool, bytes, n_bytes);
        for (const SvmPart& part : parts) n_rows += static_cast<size_t>(part.n_rows), n_entries += static_cast<size_t>(part.n_entries);
        labels.reset(new double[n_rows]);
        lengths.reset(new int64_t[n_rows]);
        narrow.reset(new int32_t[n_entries]);
        values.reset(new double[n_entries]);
        found = read_svmlight(pool, bytes, parts, labels.get(), lengths.get(), narrow.get(), values.get());
        if (found.error == SvmError::none && found.largest > INT32_MAX) {
            narrow.reset();
            wide.reset(new int64_t[n_entries]);
            found = read_svmlight(pool, bytes, parts, labels.get(), lengths.get(), wide.get(), values.get());
        }
        if (found.error == SvmError::none && found.single) {
            single.reset(new float[n_entries]);
            parallel_ranges(pool, static_cast<int64_t>(n_entries), 1 << 16, [&](int64_t begin, int64_t end) {
                for (int64_t k = begin; k < end; ++k) single[k] = static_cast<float>(values[k]);
            });
            values.reset();
        }
    }
    if (found.error != SvmError::none)
        return nb::make_tuple(static_cast<int>(found.error), found.error_at, nb::none(), nb::none(), nb::none(), nb::none(), -1, -1);
    const nb::object indices = wide ? nb::cast(give(std::move(wide), n_entries)) : nb::cast(give(std::move(narrow), n_entries));
    const nb::object data = single ? nb::cast(give(std::move(single), n_entries)) : nb::cast(give(std::move(values), n_entries));
    return nb::make_tuple(0, -1, give(std::move(labels), n_rows), give(std::move(lengths), n_rows), indices, data, found.largest,
                          n_entries ? found.smallest : -1);
}

static TextOptions text_options(std::pair<int, int> words, std::pair<int, int> characters, int bits) {
    need(bits >= 1 && bits <= 48, "bits must be from 1 to 48");
    need(words.first >= 0 && words.second <= 16 && characters.first >= 0 && characters.second <= 64, "n-grams are too long");
    return {words.first, words.second, characters.first, characters.second, bits};
}

static void need_offsets(const Array<int64_t>& offsets, size_t n_bytes) {
    need(offsets.size() >= 1 && offsets.data()[0] >= 0, "offsets are empty");
    for (size_t i = 1; i < offsets.size(); ++i) need(offsets.data()[i - 1] <= offsets.data()[i], "offsets decrease");
    need(static_cast<size_t>(offsets.data()[offsets.size() - 1]) <= n_bytes, "offsets point outside of the text");
}

static nb::object count_text(const Array<uint8_t>& text, const Array<int64_t>& offsets, std::pair<int, int> words,
                            std::pair<int, int> characters, int bits, int n_threads) {
    const TextOptions options = text_options(words, characters, bits);
    TextCounts counts;
    {
        GilReleased released;
        need_offsets(offsets, text.size());
        ThreadPool pool(std::max(1, n_threads));
        counts = count_tokens(pool, reinterpret_cast<const char*>(text.data()), offsets.data(),
                              static_cast<int64_t>(offsets.size()) - 1, options);
    }
    return nb::make_tuple(give(std::move(counts.lengths)), give(std::move(counts.columns)), give(std::move(counts.counts)));
}

static nb::object text_tokens(const Array<uint8_t>& text, std::pair<int, int> words, std::pair<int, int> characters, int bits) {
    Tokenizer tokens(text_options(words, characters, bits));
    std::vector<Token> found;
    {
        GilReleased released;
        tokens(reinterpret_cast<const char*>(text.data()), static_cast<int64_t>(text.size()),
               [&](int64_t column, int64_t begin, int64_t end, bool is_word) { found.push_back({column, begin, end, is_word}); });
    }
    nb::list given;
    for (const Token& token : found) {
        const nb::bytes bytes(tokens.normalised().data() + token.begin, static_cast<size_t>(token.end - token.begin));
        given.append(nb::make_tuple(token.column, bytes, token.is_word));
    }
    return given;
}

// ---- the module --------------------------------------------------------------------------------------------------

template <class I, class V>
static void bind_sparse(nb::module_& m, nb::class_<SparseTrainer, Trainer>& trainer, nb::class_<SparseReferences>& references,
                        nb::class_<BoundProjection>& projection) {
    m.def("scan", &scan<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_columns"_a,
          "limit"_a, "seen"_a, "n_threads"_a);
    references.def("score", &score_sparse<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
                   "n_columns"_a, "factors"_a.noconvert().none(), "scores"_a.noconvert(), "n_threads"_a);
    projection.def("sparse", &BoundProjection::sparse<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
                   "data"_a.noconvert(), "factors"_a.noconvert().none(), "out"_a.noconvert(), "n_threads"_a);
    m.def("squared_norms", &squared_norms_sparse<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
          "data"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a);
    m.def("largest", &largest_sparse<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
          "out"_a.noconvert(), "n_threads"_a);
    m.def("moments", &moments_sparse<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
          "n_columns"_a, "factors"_a.noconvert().none());
    trainer.def(
        "__init__",
        [](SparseTrainer* self, Array<int64_t> indptr, Array<I> indices, Array<V> data, int64_t n_columns,
           Factors factors, Array<int64_t> rows, const TrainingOptions& options) {
            new (self) SparseTrainer(indptr, indices, data, n_columns, factors, rows, options);
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_columns"_a,
        "factors"_a.noconvert().none(), "rows"_a.noconvert(), "options"_a);
}

template <class V>
static void score_dense(const DenseReferences& references, const Matrix<V>& x, const Factors& factors,
                        const Out<double>& scores, int n_threads) {
    const int64_t n = static_cast<int64_t>(x.shape(0));
    need(static_cast<int64_t>(x.shape(1)) == references.width() && static_cast<int64_t>(scores.size()) == n,
         "arrays of the wrong size");
    need(!factors || static_cast<int64_t>(factors->size()) == n, "one factor per row");
    GilReleased released;
    ThreadPool pool(std::max(1, n_threads));
    parallel_ranges(pool, n, 8, [&](int64_t begin, int64_t end) {
        references.score(x.data(), factors ? factors->data() : nullptr, begin, end, scores.data());
    });
}

template <class V>
static void bind_dense(nb::class_<DenseTrainer, Trainer>& trainer, nb::class_<BoundProjection>& projection,
                       nb::class_<DenseReferences>& references) {
    references.def("score", &score_dense<V>, "x"_a.noconvert(), "factors"_a.noconvert().none(), "scores"_a.noconvert(),
                   "n_threads"_a);
    trainer.def(
        "__init__",
        [](DenseTrainer* self, Matrix<V> x, Factors factors, Array<int64_t> rows, const TrainingOptions& options) {
            new (self) DenseTrainer(x, factors, rows, options);
        },
        "x"_a.noconvert(), "factors"_a.noconvert().none(), "rows"_a.noconvert(), "options"_a);
    projection.def("dense", &BoundProjection::dense<V>, "x"_a.noconvert(), "factors"_a.noconvert().none(), "out"_a.noconvert(), "n_threads"_a);
}

NB_MODULE(_native, m) {
    nb::set_leak_warnings(false);    // detectors that live until the interpreter ends are no leaks
    m.doc() = "Kernels of ramodo; ramodo.kernels is the only caller.";
    m.def("instructions", [] { return std::string(inner_loops().name); }, "The instruction set in use.");

    nb::class_<TrainingOptions>(m, "TrainingOptions")
        .def("__init__",
             [](TrainingOptions* self, int width, int n_queries, int k, bool average, double margin, float slope,
                double scale, uint64_t seed, float limit, float learning_rate, float rho, float epsilon, int n_threads) {
                 new (self) TrainingOptions(training_options(width, n_queries, k, average, margin, slope, scale, seed,
                                                             limit, learning_rate, rho, epsilon, n_threads));
             },
             "width"_a, "n_queries"_a, "k"_a, "average"_a, "margin"_a, "slope"_a, "scale"_a, "seed"_a, "limit"_a,
             "learning_rate"_a, "rho"_a, "epsilon"_a, "n_threads"_a);
    m.def("hinge", &hinge, "hidden"_a.noconvert(), "triplets"_a.noconvert(), "k"_a, "average"_a, "margin"_a,
          "gradient"_a.noconvert());

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

    nb::class_<Trainer>(m, "Trainer")
        .def("run", &Trainer::run, "triplets"_a.noconvert(), "batch_size"_a, "losses"_a.noconvert())
        .def("begin", &Trainer::begin, "triplets"_a.noconvert())
        .def("end", &Trainer::end, "gradient"_a.noconvert())
        .def("start_from", &Trainer::start_from, "columns"_a.noconvert(), "weights"_a.noconvert());
    auto sparse_trainer = nb::class_<SparseTrainer, Trainer>(m, "SparseTrainer");
    sparse_trainer.def("finish", &SparseTrainer::finish);
    auto dense_trainer = nb::class_<DenseTrainer, Trainer>(m, "DenseTrainer");
    dense_trainer.def("weights", &DenseTrainer::weights, "out"_a.noconvert());

    auto references = nb::class_<SparseReferences>(m, "SparseReferences");
    references.def("__init__", &make_references, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(),
                   "n_columns"_a, "subsample_size"_a, "k"_a, "average"_a);

    nb::class_<SmallReferences>(m, "SmallReferences")
        .def("__init__",
             [](SmallReferences* self, Matrix<float> rows, int64_t subsample_size, int k, bool average) {
                 need(subsample_size > 0 && rows.shape(0) > 0 && rows.shape(0) % subsample_size == 0,
                      "references must fill subsamples");
                 GilReleased released;
                 new (self) SmallReferences(rows.data(), static_cast<int64_t>(rows.shape(0)),
                                            static_cast<int>(rows.shape(1)), subsample_size,
                                            make_phi(k, average, subsample_size));
             },
             "rows"_a.noconvert(), "subsample_size"_a, "k"_a, "average"_a)
        .def("score",
             [](const SmallReferences& self, const Matrix<float>& rows, const Out<double>& scores, int n_threads) {
                 need(static_cast<int>(rows.shape(1)) == self.width() && scores.size() == rows.shape(0),
                      "arrays of the wrong size");
                 GilReleased released;
                 ThreadPool pool(std::max(1, n_threads));
                 parallel_ranges(pool, static_cast<int64_t>(rows.shape(0)), 256, [&](int64_t begin, int64_t end) {
                     self.score(rows.data() + begin * self.width(), end - begin, scores.data() + begin);
                 });
             },
             "rows"_a.noconvert(), "scores"_a.noconvert(), "n_threads"_a);

    m.def("count_text", &count_text, "text"_a.noconvert(), "offsets"_a.noconvert(), "words"_a, "characters"_a, "bits"_a,
          "n_threads"_a, "(lengths of rows, columns, counts)");
    m.def("text_tokens", &text_tokens, "text"_a.noconvert(), "words"_a, "characters"_a, "bits"_a,
          "(column, bytes, is a word) of each token of one document");
    m.def("read_svmlight", &read_svmlight_text, "text"_a.noconvert(), "n_threads"_a,
          "(error, its byte, labels, lengths of rows, indices, values, largest index, smallest index)");

    auto dense_references = nb::class_<DenseReferences>(m, "DenseReferences");
    dense_references.def(
        "__init__",
        [](DenseReferences* self, Matrix<double> rows, int64_t subsample_size, int k, bool average) {
            need(subsample_size > 0 && rows.shape(0) > 0 && rows.shape(0) % subsample_size == 0,
                 "references must fill subsamples");
            GilReleased released;
            new (self) DenseReferences(rows.data(), static_cast<int64_t>(rows.shape(0)), static_cast<int64_t>(rows.shape(1)),
                                       subsample_size, make_phi(k, average, subsample_size));
        },
        "rows"_a.noconvert(), "subsample_size"_a, "k"_a, "average"_a);

    auto projection = nb::class_<BoundProjection>(m, "Projection");
    projection.def(nb::init<Array<int64_t>, Matrix<float>, int64_t, uint64_t, float, float>(), "columns"_a.noconvert(),
                   "weights"_a.noconvert(), "n_columns"_a, "seed"_a, "limit"_a, "slope"_a);

    nb::class_<FeatureSums>(m, "FeatureSums")
        .def(nb::init<>())
        .def("add", &add_sums<int32_t>, "columns"_a.noconvert(), "sums"_a.noconvert())
        .def("add", &add_sums<int64_t>, "columns"_a.noconvert(), "sums"_a.noconvert())
        .def("top", &top_sums, "n"_a);

    auto explainer = nb::class_<BoundExplainer>(m, "Explainer");
    explainer
        .def("__init__",
             [](BoundExplainer* self, const Array<int64_t>& columns, int64_t n_features) {
                 GilReleased released;
                 need_features(columns, n_features);
                 new (self) BoundExplainer{Explainer(columns.data(), static_cast<int64_t>(columns.size()), n_features), {}};
             },
             "columns"_a.noconvert(), "n_features"_a)
        .def("add_part", &add_part, "projection"_a, "indptr"_a.noconvert(), "slots"_a.noconvert(), "values"_a.noconvert())
        .def("add_squares", &add_squares, "indptr"_a.noconvert(), "slots"_a.noconvert(), "values"_a.noconvert());
    bind_explainer<int32_t, float>(explainer);
    bind_explainer<int32_t, double>(explainer);
    bind_explainer<int64_t, float>(explainer);
    bind_explainer<int64_t, double>(explainer);

    bind_sparse<int32_t, float>(m, sparse_trainer, references, projection);
    bind_sparse<int32_t, double>(m, sparse_trainer, references, projection);
    bind_sparse<int64_t, float>(m, sparse_trainer, references, projection);
    bind_sparse<int64_t, double>(m, sparse_trainer, references, projection);
    bind_dense<float>(dense_trainer, projection, dense_references);
    bind_dense<double>(dense_trainer, projection, dense_references);
}
