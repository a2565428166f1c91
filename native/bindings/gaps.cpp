// Integers that mostly increase, as bytes.
#include "../gaps.hpp"

#include "arrays.hpp"

namespace ramodo {

template <class U>
static nb::object write_gaps(const Array<U>& values) {
    GapWriter writer;
    bool fits;
    {
        GilReleased released;
        fits = writer.write(values.data(), static_cast<int64_t>(values.size()), values.size() * sizeof(U));
    }
    return fits ? nb::cast(give(writer.take())) : nb::none();
}

template <class U>
static void read_gaps(const Array<uint8_t>& bytes, const Out<U>& out) {
    GilReleased released;
    GapReader(bytes.data(), bytes.size()).read(out.data(), static_cast<int64_t>(out.size()));
}

template <class U>
static void bind(nb::module_& m) {
    m.def("write_gaps", &write_gaps<U>, "values"_a.noconvert(), "bytes, or None where integers do not mostly increase");
    m.def("read_gaps", &read_gaps<U>, "bytes"_a.noconvert(), "out"_a.noconvert());
}

void bind_gaps(nb::module_& m) {
    bind<uint32_t>(m);
    bind<uint64_t>(m);
}

}  // namespace ramodo
