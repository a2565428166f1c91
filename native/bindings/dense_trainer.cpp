// Training on dense rows.
#include "../dense_training.hpp"
#include "trainer.hpp"

namespace ramodo {

class DenseTrainer : public Trainer {
public:
    template <class V>
    DenseTrainer(const Matrix<V>& x, const Factors& factors, const Array<int64_t>& rows, const TrainingOptions& options)
        : Trainer(options.n_queries) {
        keep(x);
        GilReleased released;
        const int64_t n = static_cast<int64_t>(x.shape(0));
        need_rows(rows, n);
        n_rows_ = static_cast<int64_t>(rows.size());
        n_columns_ = static_cast<int64_t>(x.shape(1));
        training_ = std::make_unique<DenseTraining<V>>(x.data(), n_columns_, rows.data(), n_rows_, options,
                                                       factors_of(need_factors(factors, n), rows.data(), n_rows_));
    }

    template <class V>
    void go_on(const Matrix<V>& x, const Factors& factors, const Array<int64_t>& rows) {
        {
            GilReleased released;
            const int64_t n = static_cast<int64_t>(x.shape(0));
            need(static_cast<int64_t>(x.shape(1)) == n_columns_, "rows of another width");
            need_rows(rows, n);
            training_->go_on(x.data(), rows.data(), static_cast<int64_t>(rows.size()),
                             factors_of(need_factors(factors, n), rows.data(), static_cast<int64_t>(rows.size())));
            n_rows_ = static_cast<int64_t>(rows.size());
        }
        release_kept();
        keep(x);
    }

    void weights(const OutMatrix<float>& out) {
        need(static_cast<int64_t>(out.shape(0)) == n_columns_ && static_cast<int>(out.shape(1)) == training_->m(),
             "output of the wrong size");
        GilReleased released;
        training_->weights(out.data());
    }

protected:
    Training& training() override { return *training_; }

private:
    std::unique_ptr<AnyDenseTraining> training_;
};

void bind_dense_trainer(nb::module_& m) {
    auto trainer = nb::class_<DenseTrainer, Trainer>(m, "DenseTrainer");
    trainer.def("weights", &DenseTrainer::weights, "out"_a.noconvert());
    auto bind = [&](auto value) {
        using V = decltype(value);
        trainer.def(
            "__init__",
            [](DenseTrainer* self, Matrix<V> x, Factors factors, Array<int64_t> rows, const TrainingOptions& options) {
                new (self) DenseTrainer(x, factors, rows, options);
            },
            "x"_a.noconvert(), "factors"_a.noconvert().none(), "rows"_a.noconvert(), "options"_a);
        trainer.def("go_on", &DenseTrainer::go_on<V>, "x"_a.noconvert(), "factors"_a.noconvert().none(),
                    "rows"_a.noconvert());
    };
    bind(float{});
    bind(double{});
}

}  // namespace ramodo
