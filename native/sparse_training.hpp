// Training on sparse rows: the cost of a step is the non-zeros of its rows.
//
// Forward: each row gathers the weights of its features. Update: the non-zeros of the rows that still have a gradient
// are dealt into buckets of neighbouring features, so that a bucket's records fit the cache and no two threads meet in
// a feature; within a bucket they keep the order of the rows, so sums do not depend on how the work was split.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "changed.hpp"
#include "memory.hpp"
#include "projection.hpp"
#include "selection.hpp"
#include "training.hpp"

namespace ramodo {

// Training on sparse rows, whatever the type of their values.
class AnySparseTraining : public Training {
public:
    using Training::Training;

    // The features whose weights training changed (all others are where the seed put them), or all of them where that
    // is most, and a copy of their weights, side by side.
    virtual std::vector<int64_t> so_far(std::vector<float>& weights) = 0;

    // The same, the weights in the memory of the records. Ends the training.
    virtual std::vector<int64_t> finish(Buffer& weights) = 0;

    // Goes on with other rows, of the kind that it began with: what was learned stays.
    virtual void go_on(Selection<float>&&, std::vector<float>) { refuse_kind(); }
    virtual void go_on(Selection<double>&&, std::vector<float>) { refuse_kind(); }

    virtual bool in_place() const = 0;                        // a feature's place is its index
    virtual std::vector<int64_t> trained() = 0;               // the features that have been in a step

private:
    [[noreturn]] static void refuse_kind() { throw std::invalid_argument("rows of another kind than training began with"); }
};

template <class V>
class SparseTraining : public AnySparseTraining {
public:
    SparseTraining(Selection<V>&& rows, const TrainingOptions& options, std::vector<float> factors)
        : AnySparseTraining(options, rows.n_rows(), std::move(factors)), x_(std::move(rows)), layout_(options.m), n_slots_(x_.n_slots),
          records_(layout_.bytes * static_cast<size_t>(n_slots_)) {
        initialize();
    }

    using AnySparseTraining::go_on;
    void go_on(Selection<V>&& rows, std::vector<float> factors) override {
        replace_rows(rows.n_rows(), std::move(factors));
        if (in_place()) {
            x_ = std::move(rows);
            return;
        }
        const std::vector<int64_t> before = std::move(x_.columns);
        Buffer records(layout_.bytes * static_cast<size_t>(rows.n_slots));
        records.swap(records_);       // now those of before
        x_ = std::move(rows);
        n_slots_ = x_.n_slots;
        initialize();
        for (size_t old = 0, slot = 0; old < before.size(); ++old) {
            char* kept = records.data() + layout_.bytes * old;
            if (layout_.last_step(kept) == 0) continue;
            while (x_.columns[slot] != before[old]) ++slot;
            std::memcpy(record(static_cast<int64_t>(slot)), kept, layout_.bytes);
        }
    }

    bool in_place() const override { return x_.columns.empty(); }

    std::vector<int64_t> trained() override {
        std::vector<int64_t> columns;
        for (int64_t j = 0; j < n_slots_; ++j)
            if (layout_.last_step(record(j))) columns.push_back(column(j));
        return columns;
    }

    void start_from(const int64_t* columns, int64_t n, const float* weights) override {
        int64_t slot = 0;
        for (int64_t i = 0; i < n && slot < n_slots_; ++i) {
            while (slot < n_slots_ && column(slot) < columns[i]) ++slot;
            if (slot == n_slots_ || column(slot) != columns[i] || layout_.last_step(record(slot))) continue;
            std::memcpy(layout_.weights(record(slot)), weights + i * options_.m, sizeof(float) * options_.m);
        }
    }

    std::vector<int64_t> so_far(std::vector<float>& weights) override {
        const std::vector<int64_t> slots = changed();
        weights.resize(slots.size() * static_cast<size_t>(options_.m));
        return gathered(slots, weights.data());
    }

    std::vector<int64_t> finish(Buffer& weights) override {
        std::vector<int64_t> columns = gathered(changed(), records_.as<float>());
        records_.shrink(sizeof(float) * static_cast<size_t>(options_.m) * columns.size());
        weights = std::move(records_);
        n_slots_ = 0;
        return columns;
    }

protected:
    int64_t work() const override {
        int64_t n = 0;
        for (int64_t row : batch_.rows()) n += x_.length(row);
        return n;
    }

    void forward(ThreadPool& pool) override {
        const auto& rows = batch_.rows();
        if (static_cast<int64_t>(rows.size()) > kMostBatchRows)
            throw std::invalid_argument("a batch has more than 4,194,304 different rows; give a smaller batch_size");
        const uint32_t n_slots = x_.may_change ? static_cast<uint32_t>(n_slots_) : kUnchecked;
        parallel_ranges(pool, static_cast<int64_t>(rows.size()), 8, [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) {
                if (r + 1 < end) fetch_start(rows[r + 1]);
                const int64_t at = x_.begin(rows[r]), n = x_.length(rows[r]);
                gather(x_.indices + at, x_.data + at, n, n, records_.data(), layout_.bytes, n_slots, width_,
                       hidden_.data() + r * width_);
            }
        });
    }

    void update(ThreadPool& pool) override {
        if (x_.may_change) deal<true>(pool);
        else deal<false>(pool);
        const int64_t n_tasks = std::min<int64_t>(n_buckets_, 16 * pool.size());
        const int64_t n_workers = std::min<int64_t>(n_tasks, pool.size());
        std::atomic<int64_t> next{0};
        if (static_cast<int64_t>(scratch_.size()) < n_workers) scratch_.resize(static_cast<size_t>(n_workers));
        pool.run(n_workers, [&](int64_t worker) {
            SparseUpdate u = scratch_[worker].prepare(layout_, shift_);
            u.records = records_.data();
            u.deltas = deltas_.data();
            u.adadelta = options_.adadelta;
            u.powers = powers_.data();
            u.n_powers = static_cast<uint32_t>(powers_.size());
            u.step = step_;
            u.shift = shift_;
            for (int64_t task; (task = next.fetch_add(1)) < n_tasks;)
                inner_loops().update_sparse(entries_.data(), starts_.data(), n_buckets_ * task / n_tasks,
                                            n_buckets_ * (task + 1) / n_tasks, u);
        });
    }

private:
    struct Scratch {
        std::vector<int32_t> local;
        std::vector<uint32_t> touched;
        std::vector<float> sums;
        SparseUpdate prepare(const RecordLayout& layout, int shift) {
            const size_t n = size_t{1} << shift;
            if (local.empty()) {
                local.assign(n, -1);
                touched.resize(n);
                sums.resize(n * layout.width);
            }
            SparseUpdate u{layout};
            u.local = local.data();
            u.touched = touched.data();
            u.sums = sums.data();
            return u;
        }
    };

    static constexpr int64_t kLeastRows = 8;    // of a part

    // The weights that the seed gives, and buckets for so many slots.
    void initialize() {
        parallel_ranges(pool_, n_slots_, 4096, [&](int64_t begin, int64_t end) {
            for (int64_t j = begin; j < end; ++j)
                inner_loops().initial_row(options_.init, column(j), options_.m, width_, layout_.weights(record(j)));
        });
        scratch_.clear();
        shift_ = 4;
        while (shift_ < kWidestBucket && (n_slots_ >> shift_) > 128) ++shift_;
        n_buckets_ = (n_slots_ >> shift_) + 1;
    }

    // The slots whose weights training changed, or all of them where that is most.
    std::vector<int64_t> changed() {
        int64_t n_changed = 0;
        for (int64_t j = 0; j < n_slots_; ++j) n_changed += layout_.last_step(record(j)) > 0;
        const bool all = x_.columns.empty() && 2 * n_changed >= n_slots_;
        std::vector<int64_t> slots;
        slots.reserve(static_cast<size_t>(all ? n_slots_ : n_changed));
        for (int64_t j = 0; j < n_slots_; ++j)
            if (all || layout_.last_step(record(j))) slots.push_back(j);
        return slots;
    }

    // Their columns; their weights go to `next`, which may be where the records begin: no slot moves up.
    std::vector<int64_t> gathered(std::vector<int64_t> slots, float* next) {
        for (int64_t& slot : slots) {
            std::memmove(next, layout_.weights(record(slot)), sizeof(float) * options_.m);
            next += options_.m;
            slot = column(slot);
        }
        return slots;
    }

    char* record(int64_t slot) { return records_.data() + layout_.bytes * static_cast<size_t>(slot); }
    int64_t column(int64_t slot) const { return x_.columns.empty() ? slot : x_.columns[slot]; }

    void fetch_start(int64_t row) {
        const int64_t at = x_.begin(row), n = std::min<int64_t>(x_.length(row), 24);
        for (int64_t k = 0; k < n; ++k) RAMODO_FETCH(record(x_.indices[at + k]), 0, 3);
    }

    template <bool Checked>
    static uint32_t slot_at(const int32_t* index, uint32_t n_slots) {
        const uint32_t slot = static_cast<uint32_t>(load_once(index));
        if (Checked && slot >= n_slots) refuse_changed();
        return slot;
    }

    // Counting sort of the active rows' non-zeros by bucket, stable in the order of the rows.
    template <bool Checked>
    void deal(ThreadPool& pool) {
        const int64_t n_active = static_cast<int64_t>(active_.size());
        const int32_t* const indices = x_.indices;      // these as locals: the loops would load members again and again
        const V* const data = x_.data;
        const uint32_t n_slots = static_cast<uint32_t>(n_slots_);
        const int shift = shift_;
        const int64_t n_parts = std::min<int64_t>(pool.size(), (n_active + kLeastRows - 1) / kLeastRows);
        counts_.assign(static_cast<size_t>(n_parts * n_buckets_), 0);
        auto rows_of = [&](int64_t part) { return std::pair{n_active * part / n_parts, n_active * (part + 1) / n_parts}; };
        pool.run(n_parts, [&, indices, n_slots, shift](int64_t part) {
            int64_t* counts = counts_.data() + part * n_buckets_;
            const auto [begin, end] = rows_of(part);
            for (int64_t a = begin; a < end; ++a) {
                const int64_t row = batch_.rows()[active_[a]];
                for (int64_t k = x_.begin(row); k < x_.end(row); ++k) ++counts[slot_at<Checked>(indices + k, n_slots) >> shift];
            }
        });
        starts_.resize(static_cast<size_t>(n_buckets_ + 1));
        ends_.resize(counts_.size());
        int64_t total = 0;
        for (int64_t b = 0; b < n_buckets_; ++b) {
            starts_[b] = total;
            for (int64_t part = 0; part < n_parts; ++part) {
                total += std::exchange(counts_[part * n_buckets_ + b], total);
                ends_[part * n_buckets_ + b] = total;
            }
        }
        starts_[n_buckets_] = total;
        if (static_cast<int64_t>(entries_.size()) < total) entries_.resize(static_cast<size_t>(total));
        Entry* const entries = entries_.data();
        pool.run(n_parts, [&, entries, indices, data, n_slots, shift, n_entries = total](int64_t part) {
            int64_t* next = counts_.data() + part * n_buckets_;
            const auto [begin, end] = rows_of(part);
            for (int64_t a = begin; a < end; ++a) {
                const uint32_t place = static_cast<uint32_t>(active_[a]);
                const int64_t row = batch_.rows()[place];
                for (int64_t k = x_.begin(row); k < x_.end(row); ++k) {
                    const uint32_t slot = slot_at<Checked>(indices + k, n_slots);
                    const int64_t at = next[slot >> shift]++;
                    if (Checked && at >= n_entries) refuse_changed();
                    entries[at] = {Entry::make_key(slot, place, shift), static_cast<float>(data[k])};
                }
            }
        });
        if (counts_ != ends_) refuse_changed();      // a bucket got other non-zeros than were counted
    }

    Selection<V> x_;
    RecordLayout layout_;
    int64_t n_slots_;
    Buffer records_;
    int shift_ = 4;
    int64_t n_buckets_ = 0;
    std::vector<Scratch> scratch_;
    std::vector<int64_t> counts_, ends_, starts_;
    std::vector<Entry> entries_;
};

struct StartedTraining {
    std::unique_ptr<AnySparseTraining> training;
    bool in_place;      // it reads the rows where they are: the arrays of x must stay until it ends
};

// Training on some rows of x; triplets refer to them by position in `rows`. `n_entries` are the non-zeros of all rows
// that there will be, where these are only the first of them; else -1.
template <class I, class V>
StartedTraining start_training(const Csr<I, V>& x, const int64_t* rows, int64_t n, const TrainingOptions& options,
                               int64_t n_entries) {
    std::vector<float> factors = factors_of(x.factors, rows, n);
    if constexpr (sizeof(I) == 4)
        if (in_place(x.n_columns, n_entries < 0 ? count_entries(x, rows, n) : n_entries))
            return {std::make_unique<SparseTraining<V>>(select_in_place(x, rows, n), options, std::move(factors)), true};
    ThreadPool pool(options.n_threads);
    return {std::make_unique<SparseTraining<float>>(select_copy(pool, x, rows, n), options, std::move(factors)), false};
}

// Goes on with some rows of another x.
template <class I, class V>
void go_on_training(AnySparseTraining& training, const Csr<I, V>& x, const int64_t* rows, int64_t n) {
    std::vector<float> factors = factors_of(x.factors, rows, n);
    if (training.in_place()) {
        if constexpr (sizeof(I) == 4) training.go_on(select_in_place(x, rows, n), std::move(factors));
        else throw std::invalid_argument("rows of another kind than training began with");
        return;
    }
    ThreadPool pool(training.n_threads());
    training.go_on(select_copy(pool, x, rows, n, training.trained()), std::move(factors));
}

}  // namespace ramodo
