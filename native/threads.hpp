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
#include <thread>
#include <utility>
#include <vector>

namespace ramodo {

class ThreadPool {
public:
    explicit ThreadPool(int n_threads) {
        for (int i = 1; i < n_threads; ++i) workers_.emplace_back([this] { work(); });
    }
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    ~ThreadPool() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
            generation_.fetch_add(1);
        }
        wake_.notify_all();
        for (auto& worker : workers_) worker.join();
    }

    int size() const { return static_cast<int>(workers_.size()) + 1; }

    // Runs task(0) .. task(n - 1), in any order, and returns when all are done. The first exception is thrown here.
    void run(int64_t n_tasks, const std::function<void(int64_t)>& task) {
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
    void drain() {
        try {
            for (int64_t i; (i = next_.fetch_add(1)) < n_tasks_;) (*task_)(i);
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex_);
            if (!error_) error_ = std::current_exception();
            next_.store(n_tasks_);
        }
    }

    void work() {
        uint64_t seen = 0;
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
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#else
        std::this_thread::yield();
#endif
    }

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
