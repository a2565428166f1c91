// The distinct rows of a batch of triplets: a row drawn several times is computed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ramodo {

class Batch {
public:
    explicit Batch(int64_t n_rows) : place_(static_cast<size_t>(n_rows), -1) {}

    void load(const int64_t* triplets, int64_t n) {
        for (int64_t row : rows_) place_[row] = -1;
        rows_.clear();
        places_.resize(static_cast<size_t>(n));
        for (int64_t k = 0; k < n; ++k) {
            int32_t& place = place_[triplets[k]];
            if (place < 0) {
                place = static_cast<int32_t>(rows_.size());
                rows_.push_back(triplets[k]);
            }
            places_[k] = place;
        }
    }

    const std::vector<int64_t>& rows() const { return rows_; }      // in the order of first draw
    const int32_t* places() const { return places_.data(); }        // the triplets, as places in rows()

private:
    std::vector<int32_t> place_;
    std::vector<int64_t> rows_;
    std::vector<int32_t> places_;
};

}  // namespace ramodo
