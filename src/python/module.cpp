#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "kernels/simd_level.h"
#include "python/errors.h"

namespace unstarve::python {

void bind_transform_plan(nanobind::module_& module);
void bind_loader(nanobind::module_& module);
void bind_sample_loader(nanobind::module_& module);
void bind_workers(nanobind::module_& module);
void bind_host_memory(nanobind::module_& module);

}  // namespace unstarve::python

NB_MODULE(_native, module) {
  // What a job still holds when its interpreter ends, in a trainer's cycle or in torch's statics,
  // is not a fault of these bindings, and a page about it at every exit helps nobody.
  nanobind::set_leak_warnings(false);
  module.doc() = "The compiled half of unstarve; use it through the unstarve package.";
  module.def(
      "limit_simd",
      [](const std::string& level) {
        if (const unstarve::Status status = unstarve::kernels::limit_simd(level); !status) {
          unstarve::python::raise(status.error());
        }
      },
      nanobind::arg("level"));
  module.def("simd_level", &unstarve::kernels::simd_level);
  unstarve::python::bind_transform_plan(module);
  unstarve::python::bind_host_memory(module);
  unstarve::python::bind_loader(module);
  unstarve::python::bind_sample_loader(module);
  unstarve::python::bind_workers(module);
}
