// Runs each inner loop, and each thing in compiler.hpp and memory.hpp, on numbers of its own; prints the bits of all results.
// Built with and without RAMODO_PORTABLE it must print the same.
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#define RAMODO_ISA baseline
#include "inner_loops_isa.cpp"
#include "memory.hpp"

namespace {

std::mt19937_64 numbers(7);

double number() { return static_cast<double>(numbers() >> 11) * 0x1p-52 - 1; }

template <class T>
std::vector<T> some(size_t n) {
    std::vector<T> made(n);
    for (T& value : made) value = static_cast<T>(number());
    return made;
}

template <class T>
void tell(const char* what, const std::vector<T>& values) {
    uint64_t digest = 14695981039346656037u;
    for (const T& value : values) {
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T));
        for (const unsigned char byte : bytes) digest = (digest ^ byte) * 1099511628211u;
    }
    std::printf("%s %016llx\n", what, static_cast<unsigned long long>(digest));
}

using namespace ramodo;
const InnerLoops& loops = baseline::table;

void vectors() {
    auto x = some<double>(103), y = some<double>(103);
    const auto f = some<float>(103);
    loops.add_scaled(103, 0.3, x.data(), y.data());
    tell("add_scaled", y);
    tell("squared_norm", std::vector<double>{loops.squared_norm_float(f.data(), 103), loops.squared_norm_double(x.data(), 103)});
    std::vector<int64_t> found;
    for (const double limit : {0.5, 0.9, 0.99, 2.0})
        for (int64_t at = 0; at < 103; at += 17) found.push_back(loops.find_reaching(x.data(), at, 103, limit));
    tell("find_reaching", found);
}

void sparse(int width) {
    const int n = 200, n_rows = 50;
    const auto table = some<float>(static_cast<size_t>(n_rows) * width);
    const auto single = some<float>(n);
    const auto values = some<double>(n);
    std::vector<int32_t> slots(n);
    for (int32_t& slot : slots) slot = static_cast<int32_t>(numbers() % n_rows);
    std::vector<float> out(2 * static_cast<size_t>(width));
    const char* bytes = reinterpret_cast<const char*>(table.data());
    bool inside = loops.gather_float(slots.data(), single.data(), n, n, bytes, sizeof(float) * width, n_rows, width, out.data());
    inside &= loops.gather_double(slots.data(), values.data(), n, n, bytes, sizeof(float) * width, kUnchecked, width, out.data() + width);
    tell("gather", out);
    tell("inside", std::vector<int>{inside, loops.gather_float(slots.data(), single.data(), n, n, bytes, sizeof(float) * width, 9, width, out.data())});
    std::vector<double> sums(n_rows);
    const auto q = some<double>(width);
    loops.add_products(slots.data(), values.data(), n, table.data(), width, q.data(), sums.data());
    loops.add_products(nullptr, values.data(), n_rows, table.data(), width, q.data(), sums.data());
    tell("add_products", sums);
}

void initial(int m) {
    const int width = padded_width(m);
    InitialWeights init{};
    init.seed = 12345;
    init.limit = 0.25f;
    std::vector<float> out(width), row(width);
    const std::vector<int64_t> columns{0, 3, 77, int64_t{1} << 40};
    const auto values = some<float>(4);
    loops.gather_initial(init, columns.data(), values.data(), 4, m, width, out.data());
    loops.initial_row(init, 99, m, width, row.data());
    tell("gather_initial", out);
    tell("initial_row", row);
}

void update_sparse(int m) {
    const RecordLayout layout(m);
    const int shift = 4, n_buckets = 3, n_rows = 20;
    Buffer records(layout.bytes << shift << 2);
    for (int i = 0; i < n_buckets << shift; ++i)
        for (int k = 0; k < layout.width; ++k) layout.weights(records.data() + layout.bytes * i)[k] = static_cast<float>(number());
    const auto deltas = some<float>(static_cast<size_t>(n_rows) * layout.width);
    std::vector<float> powers{1.0f, 0.95f, 0.9025f};
    std::vector<int32_t> local(1 << shift, -1);
    std::vector<uint32_t> touched(1 << shift);
    std::vector<float> sums(static_cast<size_t>(layout.width) << shift);
    for (uint32_t step = 1; step < 6; ++step) {
        std::vector<Entry> entries;
        std::vector<int64_t> starts{0};
        for (int b = 0; b < n_buckets; ++b) {
            for (int k = 0; k < 30; ++k) {
                const auto slot = static_cast<uint32_t>(numbers() % 13), row = static_cast<uint32_t>(numbers() % n_rows);
                entries.push_back({Entry::make_key(slot, row, shift), static_cast<float>(number())});
            }
            starts.push_back(static_cast<int64_t>(entries.size()));
        }
        const SparseUpdate update{layout, records.data(), deltas.data(), Adadelta{}, powers.data(), 3, step, shift,
                                  local.data(), touched.data(), sums.data()};
        loops.update_sparse(entries.data(), starts.data(), 0, n_buckets, update);
    }
    tell("update_sparse", std::vector<char>(records.data(), records.data() + (layout.bytes * n_buckets << shift)));
}

template <class V>
void dense(int m) {
    const int width = padded_width(m), n = 37, n_rows = 11;
    std::vector<std::vector<V>> x;
    std::vector<std::vector<float>> d;
    std::vector<const V*> rows;
    std::vector<const float*> deltas;
    for (int r = 0; r < n_rows; ++r) {
        x.push_back(some<V>(n));
        d.push_back(some<float>(width));
    }
    for (int r = 0; r < n_rows; ++r) {
        rows.push_back(x[r].data());
        deltas.push_back(d[r].data());
    }
    auto weights = some<float>(static_cast<size_t>(n) * width);
    std::vector<float> hidden(static_cast<size_t>(n_rows) * width), own(static_cast<size_t>(n) * 2 * width), sums(static_cast<size_t>(kDenseFeatures) * width);
    for (int step = 0; step < 3; ++step) {
        if constexpr (sizeof(V) == 4) {
            loops.forward_dense_float(rows.data(), n_rows, 0, n, weights.data(), width, hidden.data());
            loops.update_dense_float(rows.data(), deltas.data(), n_rows, 0, n, weights.data(), own.data(), width, Adadelta{}, 0.95f, sums.data());
        } else {
            loops.forward_dense_double(rows.data(), n_rows, 0, n, weights.data(), width, hidden.data());
            loops.update_dense_double(rows.data(), deltas.data(), n_rows, 0, n, weights.data(), own.data(), width, Adadelta{}, 1.0f, sums.data());
        }
    }
    tell("forward_dense", hidden);
    tell("update_dense", weights);
}

void distances(int m, int64_t lanes) {
    const auto rows = some<float>(static_cast<size_t>(9) * m);
    const auto doubles = some<double>(static_cast<size_t>(4) * m);
    const auto references = some<double>(static_cast<size_t>(6) * m * lanes);
    std::vector<double> scratch(lanes), scores(9), products(4 * lanes), squared(lanes);
    loops.score_small(rows.data(), 9, m, references.data(), 6, lanes, scratch.data(), scores.data());
    loops.distances_small(rows.data(), m, references.data(), lanes, squared.data());
    loops.products_wide(doubles.data(), m, references.data(), lanes, products.data());
    tell("score_small", scores);
    tell("distances_small", squared);
    tell("products_wide", products);
}

void bits_and_memory() {
    std::vector<int> bits;
    for (int i = 0; i < 500; ++i) {
        const uint64_t word = numbers() & numbers() & (i % 2 ? ~uint64_t{0} : numbers());
        if (word) bits.insert(bits.end(), {count_bits(word), lowest_bit(word), lowest_bit(word & (~word + 1))});
    }
    bits.push_back(count_bits(0));
    bits.push_back(count_bits(~uint64_t{0}));
    bits.push_back(lowest_bit(uint64_t{1} << 63));
    tell("bits", bits);
    std::vector<int> kept;
    for (const size_t size : {size_t{1}, size_t{1000}, size_t{5} << 20}) {
        Buffer buffer(size);
        bool zero = true;
        for (size_t i = 0; i < size; ++i) zero &= buffer.data()[i] == 0;
        const bool aligned = reinterpret_cast<uintptr_t>(buffer.data()) % 64 == 0;
        buffer.data()[size - 1] = 5;
        buffer.data()[0] = 7;
        Buffer other(std::move(buffer));
        Buffer third;
        third = std::move(other);
        third.shrink(3 << 20);
        kept.insert(kept.end(), {zero, aligned, third.data()[0], buffer.data() == nullptr});
    }
    tell("memory", kept);
}

}  // namespace

int main() {
    vectors();
    for (const int width : {4, 8, 12, 20, 24, 28, 32, 44}) sparse(width);
    for (const int m : {1, 5, 20, 37}) {
        initial(m);
        update_sparse(m);
        dense<float>(m);
        dense<double>(m);
    }
    for (const int m : {1, 20}) for (const int64_t lanes : {4, 8, 12}) distances(m, lanes);
    bits_and_memory();
}
