// A pool of std::thread for one call or one training run. Work is handed out in numbered tasks; since no kernel lets
// a task's result depend on which thread runs it, results are the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "compiler.hpp"

namespace ramodo {

class ThreadPool {
public:
    // At most `n_threads` at a time, the calling one among them. The others start when there is work for them.
    explicit ThreadPool(int n_threads) : size_(std::max(1, std::min(n_threads, most_threads()))) {}
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;
    ~ThreadPool() { stop(); }

    // How many threads to cut work for; falls where the system refused to start as many.
    int size() const { return size_; }

    // Runs task(0) .. task(n - 1), in any order, and returns when all are done. The first exception is thrown here.
    void run(int64_t n_tasks, const std::function<void(int64_t)>& task) {
        start(std::min<int64_t>(size_, n_tasks) - 1);
        if (workers_.empty() || n_tasks < 2) {
            for (int64_t i = 0; i < n_tasks; ++i) task(i);
            return;
        }
        task_ = &task;
        n_tasks_ = n_tasks;
        next_.store(0);
        busy_.store(static_cast<int>(workers_.size()));
        {
            std::lock_guard<std::mutex> lock(mutex_);
            generation_.fetch_add(1);
        }
        wake_.notify_all();
        drain();
        while (busy_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    }

private:
    // More threads than this only wait for each other, and take the memory of their stacks.
    static int most_threads() { return std::max(64, 4 * static_cast<int>(std::thread::hardware_concurrency())); }

    // Brings the number of workers to `n`, or to as many as the system lets us have.
    void start(int64_t n) {
        if (n <= static_cast<int64_t>(workers_.size()) || add_workers(n)) return;
        // At a limit on memory, those that started have left none for the work itself: half of them give theirs back.
        const int64_t fewer = static_cast<int64_t>(workers_.size()) / 2;
        stop();
        add_workers(fewer);
        size_ = static_cast<int>(workers_.size()) + 1;
    }

    // False where a thread could not be started; those that were stay.
    bool add_workers(int64_t n) {
        try {
            workers_.reserve(static_cast<size_t>(n));
            while (static_cast<int64_t>(workers_.size()) < n)
                workers_.emplace_back([this, seen = generation_.load()] { work(seen); });
        } catch (const std::system_error&) {
            return false;
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
    }

    void stop() {
        if (workers_.empty()) return;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
            generation_.fetch_add(1);
        }
        wake_.notify_all();
        for (auto& worker : workers_) worker.join();
        workers_.clear();
        stop_ = false;
    }

    void drain() {
        try {
            for (int64_t i; (i = next_.fetch_add(1)) < n_tasks_;) (*task_)(i);
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex_);
            if (!error_) error_ = std::current_exception();
            next_.store(n_tasks_);
        }
    }

    // `seen`: the last region that this worker has no part in.
    void work(uint64_t seen) {
        for (;;) {
            // Regions follow one another within microseconds during training: spin a while before sleeping.
            for (int spin = 0; spin < 2000 && generation_.load(std::memory_order_acquire) == seen; ++spin) pause();
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return generation_.load() != seen; });
                seen = generation_.load();
                if (stop_) return;
            }
            drain();
            busy_.fetch_sub(1, std::memory_order_release);
        }
    }

    static void pause() {
#if RAMODO_GNU && (defined(__x86_64__) || defined(__i386__))
        __builtin_ia32_pause();
#else
        std::this_thread::yield();
#endif
    }

    int size_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<uint64_t> generation_{0};
    std::atomic<int64_t> next_{0};
    std::atomic<int> busy_{0};
    bool stop_ = false;
    int64_t n_tasks_ = 0;
    const std::function<void(int64_t)>* task_ = nullptr;
    std::exception_ptr error_;
};

// Cuts [0, n) into pieces of at least `grain` and runs body(begin, end) on each.
inline void parallel_ranges(ThreadPool& pool, int64_t n, int64_t grain,
                            const std::function<void(int64_t, int64_t)>& body) {
    if (n <= 0) return;
    int64_t pieces = std::min<int64_t>((n + grain - 1) / grain, int64_t{16} * pool.size());
    if (pool.size() == 1 || pieces < 2) {
        body(0, n);
        return;
    }
    pool.run(pieces, [&](int64_t i) { body(n * i / pieces, n * (i + 1) / pieces); });
}

}  // namespace ramodo
