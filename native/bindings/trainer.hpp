// What the trainers of sparse and of dense rows have in common in Python.
#pragma once

#include <memory>
#include <vector>

#include "../training.hpp"
#include "arrays.hpp"

namespace ramodo {

// Keeps the arrays that training reads alive.
class Trainer {
public:
    explicit Trainer(int n_queries) : triplet_size_(n_queries + 2) {}
    virtual ~Trainer() = default;

    void run(const Matrix<int64_t>& triplets, int64_t batch_size, const Out<double>& losses);
    std::pair<nb::ndarray<nb::numpy, float, nb::ndim<2>>, nb::ndarray<nb::numpy, int32_t, nb::ndim<2>>> begin(
        const Matrix<int64_t>& triplets);
    void end(const Matrix<float>& gradient);
    void start_from(const Array<int64_t>& columns, const Matrix<float>& weights);

protected:
    // Throws where training is over.
    virtual Training& training() = 0;

    template <class... T>
    void keep(T&&... arrays) {
        (kept_.push_back(nb::cast(arrays)), ...);
    }
    void release_kept() { kept_.clear(); }
    int64_t n_rows_ = 0, n_columns_ = 0;

private:
    int64_t check(const Matrix<int64_t>& triplets) const;

    std::vector<nb::object> kept_;
    int triplet_size_;
};

}  // namespace ramodo
