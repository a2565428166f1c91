// Sums by feature.
#include "../feature_sums.hpp"

#include "arrays.hpp"

namespace ramodo {

template <class I>
static void add(FeatureSums& self, const Array<I>& columns, const Array<double>& sums) {
    need(columns.size() == sums.size(), "arrays of the wrong size");
    GilReleased released;
    for (size_t k = 0; k < columns.size(); ++k) need(columns.data()[k] >= 0, "feature out of range");
    self.add(columns.data(), sums.data(), static_cast<int64_t>(columns.size()));
}

static nb::object top(const FeatureSums& self, int64_t n) {
    std::vector<int64_t> columns;
    std::vector<double> sums;
    {
        GilReleased released;
        for (const auto& [column, sum] : self.top(n)) columns.push_back(column), sums.push_back(sum);
    }
    return nb::make_tuple(give(std::move(columns)), give(std::move(sums)));
}

void bind_feature_sums(nb::module_& m) {
    nb::class_<FeatureSums>(m, "FeatureSums")
        .def(nb::init<>())
        .def("add", &add<int32_t>, "columns"_a.noconvert(), "sums"_a.noconvert())
        .def("add", &add<int64_t>, "columns"_a.noconvert(), "sums"_a.noconvert())
        .def("top", &top, "n"_a);
}

}  // namespace ramodo
