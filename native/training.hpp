// What training on sparse and on dense rows have in common: the loop over batches and the options.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "batch.hpp"
#include "hinge.hpp"
#include "initial.hpp"
#include "inner_loops.hpp"
#include "threads.hpp"

namespace ramodo {

struct TrainingOptions {
    int m;
    int n_queries;
    double margin;
    double scale;             // power of two that keeps the products of huge values in range; 1 for ordinary data
    InitialWeights init;
    Adadelta adadelta;
    int n_threads;
};

class Training {
public:
    Training(const TrainingOptions& options, int64_t n_rows)
        : options_(options), width_(padded_width(options.m)), pool_(options.n_threads), batch_(n_rows),
          hinge_(options.m, width_, options.n_queries, options.margin, options.scale), powers_(2048) {
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

    int m() const { return options_.m; }

protected:
    virtual void forward(ThreadPool& pool) = 0;
    virtual void update(ThreadPool& pool) = 0;
    virtual int64_t work() const = 0;      // non-zeros of the batch

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
    // A step whose triplets are all beyond the margin ends after the forward pass; its decay is made up for later.
    double step(const int64_t* triplets, int64_t n_triplets) {
        ++step_;
        batch_.load(triplets, n_triplets * hinge_.triplet_size());
        const int64_t n_rows = static_cast<int64_t>(batch_.rows().size());
        hidden_.resize(static_cast<size_t>(n_rows * width_));
        deltas_.resize(hidden_.size());
        constexpr int64_t kWorthThreads = 50000;
        ThreadPool& pool = work() < kWorthThreads ? alone_ : pool_;
        forward(pool);
        relu(hidden_.data(), n_rows * width_, static_cast<float>(options_.scale));
        const double loss = hinge_(hidden_.data(), n_rows, batch_.places(), n_triplets, deltas_.data(), active_);
        if (!active_.empty()) update(pool);
        return loss;
    }
};

}  // namespace ramodo
