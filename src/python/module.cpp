#include <nanobind/nanobind.h>

namespace unstarve::python {

#ifdef UNSTARVE_BINDS_LOADER
void bind_loader(nanobind::module_& module);
#endif
#ifdef UNSTARVE_BINDS_EMULATED_GPU
void bind_emulated_gpu(nanobind::module_& module);
#endif

}  // namespace unstarve::python

NB_MODULE(_native, module) {
  module.doc() = "The compiled half of unstarve; use it through the unstarve package.";
#ifdef UNSTARVE_BINDS_LOADER
  unstarve::python::bind_loader(module);
#endif
#ifdef UNSTARVE_BINDS_EMULATED_GPU
  unstarve::python::bind_emulated_gpu(module);
#endif
}
