#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/errors.h"
#include "feed/formats/image_format.h"
#include "kernels/simd_level.h"

namespace unstarve::binding {

void bind_arrow_images(nanobind::module_& module);
void bind_transform_plan(nanobind::module_& module);
void bind_loader(nanobind::module_& module);
void bind_sample_loader(nanobind::module_& module);
void bind_sample_store(nanobind::module_& module);
void bind_workers(nanobind::module_& module);
void bind_host_memory(nanobind::module_& module);

}  // namespace unstarve::binding

NB_MODULE(_native, module) {
  // What a job still holds when its interpreter ends, in a trainer's cycle or in torch's statics,
  // is not a fault of these bindings, and a page about it at every exit helps nobody.
  nanobind::set_leak_warnings(false);
  module.doc() = "The compiled half of unstarve; use it through the unstarve package.";
  module.def(
      "limit_simd",
      [](const std::string& level) {
        if (const unstarve::Status status = unstarve::kernels::limit_simd(level); !status) {
          unstarve::binding::raise(status.error());
        }
      },
      nanobind::arg("level"));
  module.def("simd_level", &unstarve::kernels::simd_level);
  // How files are named that the engine decodes, in small letters: ".jpg".
  module.def("image_endings", [] {
    std::vector<std::string> endings;
    for (const unstarve::feed::ImageFormatKind& format : unstarve::feed::image_formats()) {
      endings.insert(endings.end(), format.endings.begin(), format.endings.end());
    }
    return endings;
  });
  unstarve::binding::bind_transform_plan(module);
  unstarve::binding::bind_host_memory(module);
  unstarve::binding::bind_arrow_images(module);
  unstarve::binding::bind_loader(module);
  unstarve::binding::bind_sample_loader(module);
  unstarve::binding::bind_sample_store(module);
  unstarve::binding::bind_workers(module);
}
