// Options of training, its steps, and the ranking loss alone.
#include "trainer.hpp"

#include <nanobind/stl/pair.h>

#include "../hinge.hpp"

namespace ramodo {

// With the GIL.
static void poll_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

int64_t Trainer::check(const Matrix<int64_t>& triplets) const {
    need(static_cast<int>(triplets.shape(1)) == triplet_size_, "a triplet has n_queries + 2 rows");
    for (size_t i = 0; i < triplets.size(); ++i)
        need(triplets.data()[i] >= 0 && triplets.data()[i] < n_rows_, "triplet row out of range");
    return static_cast<int64_t>(triplets.shape(0));
}

void Trainer::run(const Matrix<int64_t>& triplets, int64_t batch_size, const Out<double>& losses) {
    GilReleased released;
    const int64_t n = check(triplets);
    need(batch_size > 0 && static_cast<int64_t>(losses.size()) == (n + batch_size - 1) / batch_size, "one loss per batch");
    training().run(triplets.data(), n, batch_size, losses.data(), [&] { released.taken(poll_signals); });
}

std::pair<nb::ndarray<nb::numpy, float, nb::ndim<2>>, nb::ndarray<nb::numpy, int32_t, nb::ndim<2>>> Trainer::begin(
    const Matrix<int64_t>& triplets) {
    std::vector<float> hidden;
    std::vector<int32_t> places;
    {
        GilReleased released;
        const int64_t n = check(triplets);
        training().begin(triplets.data(), n);
        hidden = training().plain_hidden();
        places.assign(training().places(), training().places() + triplets.size());
    }
    poll_signals();
    return {give(std::move(hidden), static_cast<size_t>(training().n_rows()), static_cast<size_t>(training().m())),
            give(std::move(places), triplets.shape(0), triplets.shape(1))};
}

void Trainer::end(const Matrix<float>& gradient) {
    need(static_cast<int64_t>(gradient.shape(0)) == training().n_rows() &&
             static_cast<int>(gradient.shape(1)) == training().m(), "one gradient for each row of the batch");
    GilReleased released;
    training().end(gradient.data());
}

void Trainer::start_from(const Array<int64_t>& columns, const Matrix<float>& weights) {
    need(columns.size() == weights.shape(0) && static_cast<int>(weights.shape(1)) == training().m(),
         "one row of weights per feature");
    GilReleased released;
    need_features(columns, n_columns_);
    training().start_from(columns.data(), static_cast<int64_t>(columns.size()), weights.data());
}

static void make_options(TrainingOptions* self, int width, int n_queries, int k, bool average, double margin, float slope,
                         double scale, uint64_t seed, float limit, float learning_rate, float rho, float epsilon,
                         int n_threads) {
    need(width > 0 && n_queries > 0 && n_threads > 0, "sizes must be positive");
    new (self) TrainingOptions{width, n_queries, make_phi(k, average, n_queries), margin, slope, scale, {seed, limit},
                               {learning_rate, rho, epsilon}, n_threads};
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

void bind_trainer(nb::module_& m) {
    nb::class_<TrainingOptions>(m, "TrainingOptions")
        .def("__init__", &make_options, "width"_a, "n_queries"_a, "k"_a, "average"_a, "margin"_a, "slope"_a, "scale"_a,
             "seed"_a, "limit"_a, "learning_rate"_a, "rho"_a, "epsilon"_a, "n_threads"_a);
    m.def("hinge", &hinge, "hidden"_a.noconvert(), "triplets"_a.noconvert(), "k"_a, "average"_a, "margin"_a,
          "gradient"_a.noconvert());
    nb::class_<Trainer>(m, "Trainer")
        .def("run", &Trainer::run, "triplets"_a.noconvert(), "batch_size"_a, "losses"_a.noconvert())
        .def("begin", &Trainer::begin, "triplets"_a.noconvert())
        .def("end", &Trainer::end, "gradient"_a.noconvert())
        .def("start_from", &Trainer::start_from, "columns"_a.noconvert(), "weights"_a.noconvert());
}

}  // namespace ramodo
