// Training on sparse rows.
#include <nanobind/stl/pair.h>

#include "../sparse_training.hpp"
#include "trainer.hpp"

namespace ramodo {

class SparseTrainer : public Trainer {
public:
    template <class I, class V>
    SparseTrainer(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
                  const Factors& factors, const Array<int64_t>& rows, const TrainingOptions& options, bool may_change,
                  int64_t n_entries)
        : Trainer(options.n_queries) {
        if (start(indptr, indices, data, n_columns, factors, rows, options, may_change, n_entries)) keep(indices, data);
    }

    template <class I, class V>
    void go_on(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, const Factors& factors,
               const Array<int64_t>& rows, bool may_change) {
        training();
        {
            GilReleased released;
            const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns_, factors, may_change);
            need_rows(rows, x.n_rows);
            go_on_training(*training_, x, rows.data(), static_cast<int64_t>(rows.size()));
            n_rows_ = static_cast<int64_t>(rows.size());
        }
        release_kept();
        if (training_->in_place()) keep(indices, data);
    }

    auto so_far() {
        const size_t m = static_cast<size_t>(training().m());
        std::vector<float> weights;
        std::vector<int64_t> columns;
        {
            GilReleased released;
            columns = training_->so_far(weights);
        }
        const size_t n = columns.size();
        return std::make_pair(give(std::move(columns)), give(std::move(weights), n, m));
    }

    auto finish() {
        const size_t m = static_cast<size_t>(training().m());
        Buffer weights;
        std::vector<int64_t> columns;
        {
            GilReleased released;
            columns = training_->finish(weights);
            training_.reset();
        }
        const size_t n = columns.size();
        return std::make_pair(give(std::move(columns)), give(std::move(weights), n, m));
    }

protected:
    Training& training() override {
        need(static_cast<bool>(training_), "training is over");
        return *training_;
    }

private:
    // True where training reads the rows where they are.
    template <class I, class V>
    bool start(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
               const Factors& factors, const Array<int64_t>& rows, const TrainingOptions& options, bool may_change,
               int64_t n_entries) {
        GilReleased released;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns, factors, may_change);
        need_rows(rows, x.n_rows);
        n_rows_ = static_cast<int64_t>(rows.size());
        n_columns_ = n_columns;
        StartedTraining started = start_training(x, rows.data(), n_rows_, options, n_entries);
        training_ = std::move(started.training);
        return started.in_place;
    }

    std::unique_ptr<AnySparseTraining> training_;
};

void bind_sparse_trainer(nb::module_& m) {
    auto trainer = nb::class_<SparseTrainer, Trainer>(m, "SparseTrainer");
    trainer.def("so_far", &SparseTrainer::so_far);
    trainer.def("finish", &SparseTrainer::finish);
    for_sparse_types([&](auto index, auto value) {
        using I = decltype(index);
        using V = decltype(value);
        trainer.def(
            "__init__",
            [](SparseTrainer* self, Array<int64_t> indptr, Array<I> indices, Array<V> data, int64_t n_columns,
               Factors factors, Array<int64_t> rows, const TrainingOptions& options, bool may_change, int64_t n_entries) {
                new (self) SparseTrainer(indptr, indices, data, n_columns, factors, rows, options, may_change, n_entries);
            },
            "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_columns"_a,
            "factors"_a.noconvert().none(), "rows"_a.noconvert(), "options"_a, "may_change"_a = true, "n_entries"_a = -1);
        trainer.def("go_on", &SparseTrainer::go_on<I, V>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
                    "data"_a.noconvert(), "factors"_a.noconvert().none(), "rows"_a.noconvert(), "may_change"_a = true);
    });
}

}  // namespace ramodo
