// All that runs on several threads, for the thread sanitizer: the pool, training on sparse and dense rows, scoring,
// projecting, scanning, reading and weighing text. Prints a digest for each number of threads; they must be the same.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

#include "dense_training.hpp"
#include "document_frequencies.hpp"
#include "rarity.hpp"
#include "scan.hpp"
#include "sp_dense.hpp"
#include "sp_small.hpp"
#include "sp_sparse.hpp"
#include "sparse_training.hpp"
#include "svmlight.hpp"
#include "text.hpp"

using namespace ramodo;

constexpr int64_t kRows = 300, kEach = 200, kWidth = 8, kLines = 8000;

struct Digest {
    uint64_t value = 0;
    template <class T>
    void add(const std::vector<T>& numbers) {
        for (const T& number : numbers) {
            uint64_t bits = 0;
            std::memcpy(&bits, &number, sizeof(T));
            value = splitmix64(value ^ bits);
        }
    }
};

struct Data {
    std::vector<int64_t> indptr, rows, triplets;
    std::vector<int64_t> columns;
    std::vector<double> values;
    int64_t n_columns;

    explicit Data(int64_t d) : n_columns(d) {
        std::mt19937_64 random(1);
        for (int64_t r = 0; r < kRows; ++r) {
            rows.push_back(r);
            indptr.push_back(r * kEach);
            for (int64_t k = 0; k < kEach; ++k) {
                columns.push_back(d / kEach * k + static_cast<int64_t>(random() % static_cast<uint64_t>(d / kEach)));
                values.push_back(static_cast<double>(random() % 1000) / 1000);
            }
        }
        indptr.push_back(kRows * kEach);
        for (int64_t i = 0; i < 3 * 600; ++i) triplets.push_back(static_cast<int64_t>(random() % kRows));
    }
    Csr<int64_t, double> csr() const { return {indptr.data(), columns.data(), values.data(), kRows, n_columns, nullptr}; }
};

static void must(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

static void use_pool(int n_threads) {
    ThreadPool pool(n_threads);
    std::vector<int64_t> done(1000, 0);
    for (int64_t n : {1, 2, 7, 1000, 3, 1000}) {
        pool.run(n, [&](int64_t i) { ++done[static_cast<size_t>(i)]; });
        bool thrown = false;
        try {
            pool.run(n, [&](int64_t i) {
                if (i == n / 2) throw std::runtime_error("thrown on purpose");
            });
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        must(thrown, "an exception was lost");
    }
    must(done[0] == 6 && done[1] == 5 && done[999] == 2, "a task was lost");
}

static TrainingOptions options(int n_threads) {
    return {static_cast<int>(kWidth), 1, Phi{}, 1000.0, 0.0f, 1.0, {7, 0.1f}, {1.0f, 0.95f, 1e-6f}, n_threads};
}

static void train(int n_threads, const Data& data, Digest& digest) {
    std::vector<double> losses(2);
    ThreadPool pool(n_threads);
    SparseTraining<float> sparse(select_copy(pool, data.csr(), data.rows.data(), kRows), options(n_threads), {});
    sparse.run(data.triplets.data(), 600, 300, losses.data(), [] {});
    digest.add(losses);
    Buffer weights;
    const std::vector<int64_t> columns = sparse.finish(weights);
    digest.add(columns);
    digest.add(std::vector<float>(weights.as<float>(), weights.as<float>() + columns.size() * kWidth));

    const Projection projection(columns.data(), weights.as<float>(), static_cast<int64_t>(columns.size()), data.n_columns,
                                static_cast<int>(kWidth), {7, 0.1f});
    std::vector<float> mapped(static_cast<size_t>(kRows * kWidth));
    const auto x = data.csr();
    parallel_ranges(pool, kRows, 8, [&](int64_t begin, int64_t end) { projection.rows(x, begin, end, mapped.data()); });
    digest.add(mapped);
    const SmallReferences small(mapped.data(), 40, static_cast<int>(kWidth), 8, Phi{});
    std::vector<double> scores(static_cast<size_t>(kRows));
    parallel_ranges(pool, kRows, 8, [&](int64_t begin, int64_t end) {
        small.score(mapped.data() + begin * kWidth, end - begin, scores.data() + begin);
    });
    digest.add(scores);

    DenseTraining<double> dense(data.values.data(), kEach, data.rows.data(), kRows, options(n_threads), {});
    dense.run(data.triplets.data(), 600, 300, losses.data(), [] {});
    digest.add(losses);
}

static void score(int n_threads, const Data& data, Digest& digest) {
    ThreadPool pool(n_threads);
    const auto x = data.csr();
    std::vector<double> scores(static_cast<size_t>(kRows));
    const SparseReferences sparse({x.indptr, x.indices, x.data, 40, x.n_columns, nullptr}, 8, Phi{});
    parallel_ranges(pool, kRows, 8, [&](int64_t begin, int64_t end) { sparse.score(x, begin, end, scores.data()); });
    digest.add(scores);
    const DenseReferences dense(data.values.data(), 40, kEach, 8, Phi{});
    parallel_ranges(pool, kRows, 8, [&](int64_t begin, int64_t end) {
        dense.score(data.values.data(), nullptr, begin, end, scores.data());
    });
    digest.add(scores);
    FeatureSet seen(x.n_columns, kRows * kEach);
    const Scan found = scan_sparse(pool, x, 10.0, &seen);
    must(found.ordered && found.bad_row < 0 && found.outside_row < 0, "the scan found what is not there");
    digest.add(seen.sorted());

    const FeatureCounts counted = count_features(pool, x);
    digest.add(counted.columns);
    digest.add(counted.counts);
    const std::vector<float> rare(counted.columns.size(), 0.25f);
    const FeatureWeights weights(counted.columns.data(), rare.data(), static_cast<int64_t>(rare.size()), x.n_columns, 1.0f);
    weights.sums(pool, x, scores.data());
    digest.add(scores);
}

static void read(int n_threads, Digest& digest) {
    std::string text;
    for (int i = 0; i < kLines; ++i) text += "1 3:0.5 7:2 " + std::to_string(10 + i) + ":1\n";
    ThreadPool pool(n_threads);
    const int64_t n_bytes = static_cast<int64_t>(text.size());
    const std::vector<SvmPart> parts = count_svmlight(pool, text.data(), n_bytes);
    std::vector<double> labels(kLines), values(3 * kLines);
    std::vector<int64_t> lengths(kLines), indices(3 * kLines);
    const SvmFound found =
        read_svmlight(pool, text.data(), parts, labels.data(), lengths.data(), indices.data(), values.data());
    must(found.error == SvmError::none && found.largest == kLines + 9, "the reader read wrongly");
    digest.add(indices);
    std::vector<int64_t> offsets;
    for (int64_t at = 0; at < n_bytes; at += n_bytes / 100) offsets.push_back(at);
    TextCounts counts =
        count_tokens(pool, text.data(), offsets.data(), static_cast<int64_t>(offsets.size()) - 1, {1, 1, 0, 0, 20});
    digest.add(counts.columns);
    digest.add(counts.counts);
    const int64_t n_counts = static_cast<int64_t>(counts.columns.size()), n_columns = int64_t{1} << 20;
    const DocumentFrequencies known = document_frequencies(counts.columns.data(), n_counts, n_columns);
    const TokenWeights weights(known.columns.data(), known.documents.data(), static_cast<int64_t>(known.columns.size()),
                               static_cast<int64_t>(offsets.size()) - 1, n_columns);
    weights.weigh(pool, counts.columns.data(), counts.counts.data(), n_counts);
    digest.add(counts.counts);
}

int main() {
    for (int n_threads : {1, 3}) {
        Digest digest;
        use_pool(n_threads);
        for (int64_t d : {int64_t{2000}, int64_t{20000}, int64_t{1} << 40}) {
            const Data data(d);
            train(n_threads, data, digest);
            score(n_threads, data, digest);
        }
        read(n_threads, digest);
        std::printf("%llu\n", static_cast<unsigned long long>(digest.value));
    }
}
