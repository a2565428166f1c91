// What each feature adds to the score of a row. A score is linear in the rows that it compares, once it is known which
// units respond and which references are nearest: feature j of a row adds x_j (W_j · p), with p what the score makes of
// the units. See model/parts.py.
//
// The features of all references are numbered once ("slots"), with their weights side by side, so that a row's sums are
// an array and nothing is hashed: a reference costs one pass over its non-zeros.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "changed.hpp"
#include "csr.hpp"
#include "feature_sums.hpp"
#include "features.hpp"
#include "inner_loops.hpp"
#include "projection.hpp"
#include "rarity.hpp"

namespace ramodo {

class Explainer {
public:
    // `columns`: the features of all references, in order.
    Explainer(const int64_t* columns, int64_t n, int64_t d) : columns_(columns, columns + n), d_(d), lookup_(columns, n, d) {}

    int64_t n_columns() const { return d_; }
    int64_t n_slots() const { return static_cast<int64_t>(columns_.size()); }
    int64_t n_parts() const { return static_cast<int64_t>(parts_.size()); }
    int64_t n_references(int64_t part) const { return static_cast<int64_t>(parts_[part].indptr.size()) - 1; }
    int width(int64_t part) const { return parts_[part].width(); }

    // A linear piece of the score, and the references that it compares with, maybe none. Where `slots` is empty, every
    // reference has a value for every feature. The projection must outlive this.
    void add_part(const Projection& projection, std::vector<int64_t> indptr, std::vector<int32_t> slots, std::vector<double> values) {
        Part part{&projection, padded_width(projection.width()), std::move(indptr), std::move(slots), std::move(values), {}};
        if (part.indptr.size() > 1) {
            part.weights.resize(static_cast<size_t>(part.stride) * columns_.size());
            std::vector<float> room(static_cast<size_t>(part.stride));
            for (size_t s = 0; s < columns_.size(); ++s) {
                const float* w = projection.weights_of(columns_[s], room.data());
                std::copy(w, w + projection.width(), part.weights.data() + s * static_cast<size_t>(part.stride));
            }
        }
        parts_.push_back(std::move(part));
    }

    // A piece that is a sum of squares: with weights q of the references, feature j adds q (x_j - s_j)^2 for each; p is
    // the sum of the weights. Without a projection, p and q have one number each.
    void add_squares(std::vector<int64_t> indptr, std::vector<int32_t> slots, std::vector<double> values) {
        parts_.push_back({nullptr, 1, std::move(indptr), std::move(slots), std::move(values), {}});
    }

    // A piece that depends on which features a row has, whatever their values: feature j adds p[0] w_j + p[1]. It
    // compares with nothing. The weights must outlive this.
    void add_presence(const FeatureWeights& weights) { parts_.push_back({nullptr, 1, {0}, {}, {}, {}, &weights}); }

    // What a row's score makes of a part: p of the row, and a vector q for each reference that counts.
    struct View {
        const double* p;
        double factor;              // what the row is multiplied by
        const int64_t* near;
        const double* q;
        int64_t n_near;
    };

    using Found = FeatureSums::Sum;

    // What a row has not and its references have: the strongest of it, all of it together, and how many features.
    struct Lacking {
        std::vector<Found> strongest;
        double total = 0;
        int64_t count = 0;
    };

    // Sums of one row at a time.
    class Row {
    public:
        explicit Row(const Explainer& of) : of_(of), sums_(static_cast<size_t>(of.n_slots()), 0.0), seen_(sums_.size(), 0) {}

        // `totals` takes the sum of each non-zero of the row, `own` what the row itself adds to it, without what its
        // references take away. `lacking` takes what the row has not and its references have: of the sums that are not
        // zero the largest by absolute value, at most `top`, in that order, ties by feature.
        template <class I, class V>
        void explain(const I* columns, const V* values, int64_t n, const std::vector<View>& views, int64_t top, double* own,
                     double* totals, Lacking& lacking) {
            std::fill(own, own + n, 0.0);
            for (size_t i = 0; i < views.size(); ++i) {
                if (of_.parts_[i].presence) {
                    add_presence(*of_.parts_[i].presence, columns, values, n, views[i], own);
                    continue;
                }
                touch(of_.parts_[i], views[i]);
                if (!of_.parts_[i].projection) {
                    add_squares(of_.parts_[i], columns, values, n, views[i], own);
                    continue;
                }
                add_own(of_.parts_[i], columns, values, n, views[i], own);
                add_references(of_.parts_[i], views[i]);
            }
            for (int64_t k = 0; k < n; ++k) {
                const int32_t slot = of_.lookup_.find(load_once(columns + k));
                totals[k] = own[k];
                if (slot < 0 || !seen_[slot] || values[k] == V{0}) continue;    // a zero that is stored is none to have
                totals[k] += sums_[slot];
                sums_[slot] = 0.0;
            }
            lacking = {};
            for (const int32_t slot : touched_) {
                const double sum = sums_[slot];
                sums_[slot] = 0.0, seen_[slot] = 0;
                if (sum == 0) continue;
                lacking.total += sum, ++lacking.count;
                if (std::abs(sum) >= weakest(top, lacking.strongest)) offer(of_.columns_[slot], sum, top, lacking.strongest);
            }
            touched_.clear();
            std::sort_heap(lacking.strongest.begin(), lacking.strongest.end(), FeatureSums::stronger);
        }

    private:
        // What a sum must reach to be kept.
        static double weakest(int64_t top, const std::vector<Found>& found) {
            return static_cast<int64_t>(found.size()) < top ? std::numeric_limits<double>::min() : std::abs(found.front().second);
        }

        // Keeps the strongest, the weakest of them in front.
        static void offer(int64_t column, double sum, int64_t top, std::vector<Found>& found) {
            const Found given(column, sum);
            if (static_cast<int64_t>(found.size()) == top) {
                if (!FeatureSums::stronger(given, found.front())) return;
                std::pop_heap(found.begin(), found.end(), FeatureSums::stronger);
                found.pop_back();
            }
            found.push_back(given);
            std::push_heap(found.begin(), found.end(), FeatureSums::stronger);
        }

        template <class PartOf, class I, class V>
        void add_own(const PartOf& part, const I* columns, const V* values, int64_t n, const View& view, double* own) {
            const int width = part.projection->width();
            room_.resize(static_cast<size_t>(part.stride));
            for (int64_t k = 0; k < n; ++k) {
                const float* w = part.projection->weights_of(load_once(columns + k), room_.data());
                double product = 0;
                for (int i = 0; i < width; ++i) product += static_cast<double>(w[i]) * view.p[i];
                own[k] += view.factor * static_cast<double>(values[k]) * product;
            }
        }

        template <class I, class V>
        static void add_presence(const FeatureWeights& weights, const I* columns, const V* values, int64_t n, const View& view,
                                 double* own) {
            for (int64_t k = 0; k < n; ++k)
                if (values[k] != V{0}) own[k] += view.p[0] * weights(load_once(columns + k)) + view.p[1];
        }

        template <class PartOf>
        void add_references(const PartOf& part, const View& view) {
            const int width = part.projection->width();
            q_.assign(static_cast<size_t>(part.stride), 0.0);
            for (int64_t i = 0; i < view.n_near; ++i) {
                const int64_t begin = part.indptr[view.near[i]], n = part.indptr[view.near[i] + 1] - begin;
                std::copy(view.q + i * width, view.q + (i + 1) * width, q_.begin());
                const int32_t* slots = part.slots.empty() ? nullptr : part.slots.data() + begin;
                inner_loops().add_products(slots, part.values.data() + begin, n, part.weights.data(), part.stride, q_.data(),
                                           sums_.data());
            }
        }

        // Notes the features of the references that count: few of all, so that the sums of others need no reset.
        template <class PartOf>
        void touch(const PartOf& part, const View& view) {
            for (int64_t i = 0; i < view.n_near; ++i) {
                const int64_t begin = part.indptr[view.near[i]], end = part.indptr[view.near[i] + 1];
                for (int64_t e = begin; e < end; ++e) {
                    const int32_t slot = part.slots.empty() ? static_cast<int32_t>(e - begin) : part.slots[e];
                    if (seen_[slot]) continue;
                    seen_[slot] = 1;
                    touched_.push_back(slot);
                }
            }
        }

        // (x - s)^2 = x^2 - 2 x s + s^2: the last goes to the features of the reference, the others to those of the row.
        template <class PartOf, class I, class V>
        void add_squares(const PartOf& part, const I* columns, const V* values, int64_t n, const View& view, double* own) {
            weighted_.resize(static_cast<size_t>(of_.n_slots()), 0.0);
            for (const int32_t slot : touched_) weighted_[slot] = 0.0;
            for (int64_t i = 0; i < view.n_near; ++i) {
                const int64_t begin = part.indptr[view.near[i]], end = part.indptr[view.near[i] + 1];
                for (int64_t e = begin; e < end; ++e) {
                    const size_t slot = part.slots.empty() ? static_cast<size_t>(e - begin) : static_cast<size_t>(part.slots[e]);
                    const double weighted = view.q[i] * part.values[e];
                    weighted_[slot] += weighted;
                    sums_[slot] += weighted * part.values[e];
                }
            }
            for (int64_t k = 0; k < n; ++k) {
                const double x = view.factor * static_cast<double>(values[k]);
                const int32_t slot = of_.lookup_.find(load_once(columns + k));
                own[k] += x * (view.p[0] * x - (slot >= 0 && seen_[slot] ? 2 * weighted_[slot] : 0.0));
            }
        }

        const Explainer& of_;
        std::vector<double> sums_, q_, weighted_;
        std::vector<float> room_;
        std::vector<uint8_t> seen_;       // by slot: whether a reference that counts has it
        std::vector<int32_t> touched_;    // those slots
    };

private:
    struct Part {
        const Projection* projection;    // or none: a sum of squares
        int stride;                      // floats from one feature's weights to the next
        std::vector<int64_t> indptr;
        std::vector<int32_t> slots;
        std::vector<double> values;
        std::vector<float> weights;
        const FeatureWeights* presence = nullptr;    // or what features weigh by being there
        int width() const { return projection ? projection->width() : presence ? 2 : 1; }
    };

    std::vector<int64_t> columns_;
    int64_t d_;
    FeatureLookup lookup_;
    std::vector<Part> parts_;
};

}  // namespace ramodo
