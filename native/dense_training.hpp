// Training on dense rows: every feature is in every row, so weights and accumulators lie in order.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "projection.hpp"
#include "training.hpp"

namespace ramodo {

inline void update_dense(const float* const* rows, const float* const* deltas, int64_t n, int64_t first, int64_t last,
                         float* w, float* accumulators, int width, const Adadelta& a, float decay, float* scratch) {
    inner_loops().update_dense_float(rows, deltas, n, first, last, w, accumulators, width, a, decay, scratch);
}
inline void update_dense(const double* const* rows, const float* const* deltas, int64_t n, int64_t first, int64_t last,
                         float* w, float* accumulators, int width, const Adadelta& a, float decay, float* scratch) {
    inner_loops().update_dense_double(rows, deltas, n, first, last, w, accumulators, width, a, decay, scratch);
}

// Training on dense rows, whatever the type of their values.
class AnyDenseTraining : public Training {
public:
    using Training::Training;
    virtual void weights(float* out) const = 0;      // d x m

    // Goes on with other rows, of the type that it began with.
    virtual void go_on(const float*, const int64_t*, int64_t, std::vector<float>) { refuse_kind(); }
    virtual void go_on(const double*, const int64_t*, int64_t, std::vector<float>) { refuse_kind(); }

private:
    [[noreturn]] static void refuse_kind() { throw std::invalid_argument("rows of another kind than training began with"); }
};

template <class V>
class DenseTraining : public AnyDenseTraining {
public:
    // Triplets refer to rows of x by position in `selected`.
    DenseTraining(const V* x, int64_t d, const int64_t* selected, int64_t n, const TrainingOptions& options,
                  std::vector<float> factors)
        : AnyDenseTraining(options, n, std::move(factors)), x_(x), d_(d), selected_(selected, selected + n), weights_(static_cast<size_t>(d * width_)),
          accumulators_(static_cast<size_t>(2 * d * width_)) {
        for (int64_t j = 0; j < d; ++j)
            inner_loops().initial_row(options_.init, j, options_.m, width_, weights_.data() + j * width_);
    }

    using AnyDenseTraining::go_on;
    void go_on(const V* x, const int64_t* selected, int64_t n, std::vector<float> factors) override {
        replace_rows(n, std::move(factors));
        x_ = x;
        selected_.assign(selected, selected + n);
    }

    void start_from(const int64_t* columns, int64_t n, const float* weights) override {
        if (last_step_) return;
        for (int64_t i = 0; i < n; ++i)
            std::memcpy(weights_.data() + columns[i] * width_, weights + i * options_.m, sizeof(float) * options_.m);
    }

    void weights(float* out) const override {
        for (int64_t j = 0; j < d_; ++j)
            std::memcpy(out + j * options_.m, weights_.data() + j * width_, sizeof(float) * options_.m);
    }

protected:
    int64_t work() const override { return static_cast<int64_t>(batch_.rows().size()) * d_; }

    void forward(ThreadPool& pool) override {
        const int64_t n = static_cast<int64_t>(batch_.rows().size());
        rows_.resize(static_cast<size_t>(n));
        for (int64_t r = 0; r < n; ++r) rows_[r] = x_ + selected_[batch_.rows()[r]] * d_;
        parallel_ranges(pool, n, 16, [&](int64_t begin, int64_t end) {
            project_dense(rows_.data() + begin, end - begin, d_, weights_.data(), width_, hidden_.data() + begin * width_);
        });
    }

    void update(ThreadPool& pool) override {
        const int64_t n = static_cast<int64_t>(active_.size());
        active_rows_.resize(active_.size());
        active_deltas_.resize(active_.size());
        for (int64_t a = 0; a < n; ++a) {
            active_rows_[a] = rows_[active_[a]];
            active_deltas_[a] = deltas_.data() + static_cast<size_t>(active_[a]) * width_;
        }
        const float decayed = last_step_ ? decay(step_ - last_step_ - 1) : 1.0f;
        const int64_t n_tiles = (d_ + kDenseTile - 1) / kDenseTile;
        pool.run(n_tiles, [&](int64_t tile) {
            std::vector<float> scratch(static_cast<size_t>(kDenseFeatures * width_));
            const int64_t first = tile * kDenseTile;
            update_dense(active_rows_.data(), active_deltas_.data(), n, first, std::min(first + kDenseTile, d_),
                         weights_.data(), accumulators_.data(), width_, options_.adadelta, decayed, scratch.data());
        });
        last_step_ = step_;
    }

private:
    const V* x_;
    int64_t d_;
    std::vector<int64_t> selected_;
    std::vector<float> weights_, accumulators_;
    uint32_t last_step_ = 0;
    std::vector<const V*> rows_, active_rows_;
    std::vector<const float*> active_deltas_;
};

}  // namespace ramodo
