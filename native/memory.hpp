// Large zeroed buffers, aligned to cache lines and on huge pages where the system offers them: random gathers over
// gigabytes of weights otherwise spend their time in the page tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ramodo {

class Buffer {
public:
    Buffer() = default;
    explicit Buffer(size_t bytes) : bytes_(bytes) {
        if (bytes == 0) return;
#if defined(__linux__)
        void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw std::bad_alloc();
        madvise(p, bytes, MADV_HUGEPAGE);
        data_ = static_cast<char*>(p);
#else
        size_t rounded = (bytes + 63) / 64 * 64;
        data_ = static_cast<char*>(std::aligned_alloc(64, rounded));
        if (!data_) throw std::bad_alloc();
        std::memset(data_, 0, rounded);
#endif
    }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() {
        if (!data_) return;
#if defined(__linux__)
        munmap(data_, bytes_);
#else
        std::free(data_);
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
    }

    // Gives back what lies behind the first `bytes`.
    void shrink(size_t bytes) {
#if defined(__linux__)
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
    char* data_ = nullptr;
    size_t bytes_ = 0;
};

}  // namespace ramodo
