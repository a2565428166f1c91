// The module: what each file of this folder binds.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "../compiler.hpp"
#include "../inner_loops.hpp"

namespace ramodo {

void bind_rows(nanobind::module_& m);
void bind_trainer(nanobind::module_& m);
void bind_sparse_trainer(nanobind::module_& m);
void bind_dense_trainer(nanobind::module_& m);
void bind_distances(nanobind::module_& m);
void bind_projection(nanobind::module_& m);
void bind_feature_sums(nanobind::module_& m);
void bind_explainer(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_svmlight(nanobind::module_& m);
void bind_rarity(nanobind::module_& m);

}  // namespace ramodo

NB_MODULE(_native, m) {
    using namespace ramodo;
    nanobind::set_leak_warnings(false);    // detectors that live until the interpreter ends are no leaks
    m.doc() = "Kernels of ramodo; ramodo.kernels is the only caller.";
    m.def("instructions", [] { return std::string(inner_loops().name); }, "The instruction set in use.");
    m.def("compiler", [] { return std::string(compiler()); }, "The compiler of this module, and its version.");
    bind_rows(m);
    bind_trainer(m);
    bind_sparse_trainer(m);
    bind_dense_trainer(m);
    bind_distances(m);
    bind_projection(m);
    bind_feature_sums(m);
    bind_explainer(m);
    bind_text(m);
    bind_svmlight(m);
    bind_rarity(m);
}
