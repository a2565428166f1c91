// Large zeroed buffers, aligned to cache lines and on huge pages where the system offers them: random gathers over
// gigabytes of weights otherwise spend their time in the page tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "compiler.hpp"

#if defined(__linux__) && RAMODO_GNU
#define RAMODO_MMAP 1
#include <sys/mman.h>
#else
#define RAMODO_MMAP 0
#endif

namespace ramodo {

class Buffer {
public:
    Buffer() = default;
    explicit Buffer(size_t bytes) : bytes_(bytes) {
        if (bytes == 0) return;
#if RAMODO_MMAP
        void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        madvise(p, bytes, MADV_HUGEPAGE);
        data_ = static_cast<char*>(p);
#else
        whole_ = std::calloc(bytes + kLine, 1);                       // whose zeros mostly cost nothing
        if (!whole_) throw std::bad_alloc();
        data_ = static_cast<char*>(whole_) + (kLine - reinterpret_cast<uintptr_t>(whole_) % kLine) % kLine;
#endif
    }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() {
        if (!data_) return;
#if RAMODO_MMAP
        munmap(data_, bytes_);
#else
        std::free(whole_);
#endif
    }
    char* data() { return data_; }
    const char* data() const { return data_; }
    template <class T>
    T* as() { return reinterpret_cast<T*>(data_); }
    template <class T>
    const T* as() const { return reinterpret_cast<const T*>(data_); }
    size_t bytes() const { return bytes_; }
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(whole_, other.whole_);
    }

    // Gives back what lies behind the first `bytes`.
    void shrink(size_t bytes) {
#if RAMODO_MMAP
        constexpr size_t kPage = 1 << 21;       // whole huge pages only
        const size_t kept = (bytes + kPage - 1) / kPage * kPage;
        if (bytes == 0 || kept >= bytes_) return;
        munmap(data_ + kept, bytes_ - kept);
        bytes_ = kept;
#else
        (void)bytes;
#endif
    }

private:
    static constexpr size_t kLine = 64;
    char* data_ = nullptr;
    size_t bytes_ = 0;
    void* whole_ = nullptr;        // what `calloc` gave
};

}  // namespace ramodo
