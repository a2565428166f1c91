// Training on sparse rows.
#include <nanobind/stl/pair.h>

#include "../sparse_training.hpp"
#include "trainer.hpp"

namespace ramodo {

class SparseTrainer : public Trainer {
public:
    template <class I, class V>
    SparseTrainer(const Array<int64_t>& indptr, const Array<I>& indices, const Array<V>& data, int64_t n_columns,
                  const Factors& factors, const Array<int64_t>& rows, const TrainingOptions& options, bool may_change)
        : Trainer(options.n_queries) {
        if (start(indptr, indices, data, n_columns, factors, rows, options, may_change)) keep(indices, data);
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
               const Factors& factors, const Array<int64_t>& rows, const TrainingOptions& options, bool may_change) {
        GilReleased released;
        const Csr<I, V> x = view<I, V>(indptr, indices, data, n_columns, factors, may_change);
        need_rows(rows, x.n_rows);
        n_rows_ = static_cast<int64_t>(rows.size());
        n_columns_ = n_columns;
        StartedTraining started = start_training(x, rows.data(), n_rows_, options);
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
               Factors factors, Array<int64_t> rows, const TrainingOptions& options, bool may_change) {
                new (self) SparseTrainer(indptr, indices, data, n_columns, factors, rows, options, may_change);
            },
            "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_columns"_a,
            "factors"_a.noconvert().none(), "rows"_a.noconvert(), "options"_a, "may_change"_a = true);
    });
}

}  // namespace ramodo
