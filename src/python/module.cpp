#include <nanobind/nanobind.h>

namespace unstarve::python {

void bind_loader(nanobind::module_& module);
void bind_emulated_gpu(nanobind::module_& module);

}  // namespace unstarve::python

NB_MODULE(_native, module) {
  module.doc() = "The compiled half of unstarve; use it through the unstarve package.";
  unstarve::python::bind_loader(module);
  unstarve::python::bind_emulated_gpu(module);
}
