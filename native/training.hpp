// What training on sparse and on dense rows have in common: the loop over batches and the options.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "activation.hpp"
#include "batch.hpp"
#include "hinge.hpp"
#include "initial.hpp"
#include "inner_loops.hpp"
#include "threads.hpp"

namespace ramodo {

struct TrainingOptions {
    int m;
    int n_queries;
    Phi phi;
    double margin;
    float slope;              // of the activation below 0
    double scale;             // power of two that keeps the products of huge values in range; 1 for ordinary data
    InitialWeights init;
    Adadelta adadelta;
    int n_threads;
};

// The factors of some rows, in single precision; none where `factors` is null.
inline std::vector<float> factors_of(const double* factors, const int64_t* rows, int64_t n) {
    std::vector<float> out;
    for (int64_t i = 0; factors && i < n; ++i) out.push_back(static_cast<float>(factors[rows[i]]));
    return out;
}

class Training {
public:
    // `factors`: what each row is multiplied by (its normalisation), or empty.
    Training(const TrainingOptions& options, int64_t n_rows, std::vector<float> factors)
        : options_(options), width_(padded_width(options.m)), pool_(options.n_threads), batch_(n_rows),
          hinge_(options.m, width_, options.n_queries, options.phi, options.margin, options.scale), powers_(2048),
          factors_(std::move(factors)) {
        for (size_t k = 0; k < powers_.size(); ++k)
            powers_[k] = static_cast<float>(std::pow(static_cast<double>(options.adadelta.rho), static_cast<double>(k)));
    }
    virtual ~Training() = default;

    // One step for each batch of triplets (n_triplets x (n_queries + 2) row numbers); losses[i] is that of step i.
    // poll() is called now and then, from this thread; it stops the run by throwing.
    void run(const int64_t* triplets, int64_t n_triplets, int64_t batch_size, double* losses,
             const std::function<void()>& poll) {
        auto polled = std::chrono::steady_clock::now();
        for (int64_t first = 0; first < n_triplets; first += batch_size) {
            *losses++ = step(triplets + first * hinge_.triplet_size(), std::min(batch_size, n_triplets - first));
            const auto now = std::chrono::steady_clock::now();
            if (now - polled < std::chrono::milliseconds(50)) continue;
            polled = now;
            poll();
        }
    }

    // The two halves of a step, for representations and losses that are not native. begin() leaves x W of the batch's
    // distinct rows, without activation, in hidden(); end() takes the gradient with respect to it (m apart).
    void begin(const int64_t* triplets, int64_t n_triplets) {
        load(triplets, n_triplets);
        for (int64_t r = 0; r < n_rows(); ++r) activate(hidden_.data() + r * width_, width_, factor(r), 1.0f);
    }
    void end(const float* gradient) {
        active_.clear();
        for (int64_t r = 0; r < n_rows(); ++r) {
            float* d = deltas_.data() + r * width_;
            std::fill(d, d + width_, 0.0f);
            std::copy(gradient + r * options_.m, gradient + (r + 1) * options_.m, d);
            if (activate_back(d, d, width_, factor(r), 1.0f)) active_.push_back(static_cast<int32_t>(r));
        }
        if (!active_.empty()) update(pool());
    }
    // Weights to start from in place of the seed's, for sorted features (n x m); those that are unknown, or trained
    // already, are passed over.
    virtual void start_from(const int64_t* columns, int64_t n, const float* weights) = 0;

    int m() const { return options_.m; }
    int width() const { return width_; }
    int n_threads() const { return options_.n_threads; }
    int64_t n_rows() const { return static_cast<int64_t>(batch_.rows().size()); }
    const float* hidden() const { return hidden_.data(); }
    const int32_t* places() const { return batch_.places(); }

    // hidden() without padding: m apart.
    std::vector<float> plain_hidden() const {
        std::vector<float> plain;
        for (int64_t r = 0; r < n_rows(); ++r)
            plain.insert(plain.end(), hidden() + r * width_, hidden() + r * width_ + options_.m);
        return plain;
    }

protected:
    virtual void forward(ThreadPool& pool) = 0;
    virtual void update(ThreadPool& pool) = 0;
    virtual int64_t work() const = 0;      // non-zeros of the batch

    // Other rows for triplets to refer to from now on.
    void replace_rows(int64_t n_rows, std::vector<float> factors) {
        batch_ = Batch(n_rows);
        factors_ = std::move(factors);
    }

    float decay(int64_t skipped) const { return skipped < static_cast<int64_t>(powers_.size()) ? powers_[skipped] : 0; }

    TrainingOptions options_;
    int width_;
    uint32_t step_ = 0;
    ThreadPool pool_, alone_{1};
    Batch batch_;
    Hinge hinge_;
    std::vector<float> powers_;
    std::vector<float> hidden_, deltas_;
    std::vector<int32_t> active_;

private:
    float factor(int64_t r) const { return factors_.empty() ? 1.0f : factors_[batch_.rows()[r]]; }

    ThreadPool& pool() {
        constexpr int64_t kWorthThreads = 50000;
        return work() < kWorthThreads ? alone_ : pool_;
    }

    void load(const int64_t* triplets, int64_t n_triplets) {
        ++step_;
        batch_.load(triplets, n_triplets * hinge_.triplet_size());
        hidden_.resize(static_cast<size_t>(n_rows() * width_));
        deltas_.resize(hidden_.size());
        forward(pool());
    }

    // A step whose triplets are all beyond the margin ends after the forward pass; its decay is made up for later.
    double step(const int64_t* triplets, int64_t n_triplets) {
        load(triplets, n_triplets);
        const float scale = static_cast<float>(options_.scale), slope = options_.slope;
        if (factors_.empty()) activate(hidden_.data(), n_rows() * width_, scale, slope);
        else
            for (int64_t r = 0; r < n_rows(); ++r)
                activate(hidden_.data() + r * width_, width_, scale * factor(r), slope);
        const double loss = hinge_(hidden_.data(), n_rows(), batch_.places(), n_triplets, deltas_.data());
        active_.clear();
        for (int64_t r = 0; r < n_rows(); ++r)
            if (hinge_.touched(r) && activate_back(hidden_.data() + r * width_, deltas_.data() + r * width_, width_,
                                                   scale * factor(r), slope))
                active_.push_back(static_cast<int32_t>(r));
        if (!active_.empty()) update(pool());
        return loss;
    }

    std::vector<float> factors_;     // of the rows that triplets refer to
};

}  // namespace ramodo
