// Python's lock, let go while native code works.
//
// Where the interpreter ends while a daemon thread is in native code, Python does not give the lock back: up to version
// 3.13 it ends the thread by unwinding its stack, which the functions above us do not survive (the whole process would
// abort, whatever it was about to exit with). Such a thread waits here until the process has ended, as from 3.14 on.
#pragma once

#include <Python.h>

#include <chrono>
#include <thread>

namespace ramodo {

[[noreturn]] inline void wait_for_the_end() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Lets go of the lock; take it back for a while with taken().
class GilReleased {
public:
    GilReleased() : state_(PyEval_SaveThread()) {}
    GilReleased(const GilReleased&) = delete;
    GilReleased& operator=(const GilReleased&) = delete;
    ~GilReleased() { take(state_); }

    // f() with the lock, on the thread that made this.
    template <class F>
    void taken(F&& f) {
        struct Again {
            GilReleased& of;
            ~Again() { of.state_ = PyEval_SaveThread(); }
        };
        take(state_);
        Again again{*this};
        f();
    }

private:
    static void take(PyThreadState* state) noexcept {
        try {
            PyEval_RestoreThread(state);
        } catch (...) {    // nothing is thrown: this is the unwinding, and leaving the block would go on with it
            wait_for_the_end();
        }
    }

    PyThreadState* state_;
};

}  // namespace ramodo
