// Lines of svmlight text to arrays.
#include "../svmlight_arrays.hpp"
#include "arrays.hpp"

namespace ramodo {

static nb::object read_svmlight_text(const Array<uint8_t>& text, int n_threads) {
    SvmArrays a;
    {
        GilReleased released;
        ThreadPool pool(std::max(1, n_threads));
        a = read_svmlight_arrays(pool, reinterpret_cast<const char*>(text.data()), static_cast<int64_t>(text.size()));
    }
    if (a.found.error != SvmError::none)
        return nb::make_tuple(static_cast<int>(a.found.error), a.found.error_at, nb::none(), nb::none(), nb::none(),
                              nb::none(), -1, -1);
    const size_t n = a.n_entries;
    const nb::object indices = a.wide ? nb::cast(give(std::move(a.wide), n)) : nb::cast(give(std::move(a.narrow), n));
    const nb::object values = a.single ? nb::cast(give(std::move(a.single), n)) : nb::cast(give(std::move(a.values), n));
    return nb::make_tuple(0, -1, give(std::move(a.labels), a.n_rows), give(std::move(a.lengths), a.n_rows), indices,
                          values, a.found.largest, n ? a.found.smallest : -1);
}

void bind_svmlight(nb::module_& m) {
    m.def("read_svmlight", &read_svmlight_text, "text"_a.noconvert(), "n_threads"_a,
          "(error, its byte, labels, lengths of rows, indices, values, largest index, smallest index)");
}

}  // namespace ramodo
