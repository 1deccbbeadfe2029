#include "binding/host_memory.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>

#include "binding/errors.h"
#include "device/cuda/cuda_pinned_host.h"

namespace nb = nanobind;

namespace unstarve::binding {
namespace {

HostMemory pinned_by_cuda(int device, const std::string& library) {
  auto host = value_or_raise(device::CudaPinnedHost::open({library, device}));
  return {std::make_shared<feed::PinnedMemory>(std::move(host))};
}

}  // namespace

void bind_host_memory(nb::module_& module) {
  nb::class_<HostMemory>(module, "HostMemory")
      .def_prop_ro("pinned_by", [](const HostMemory& own) { return own.memory->pinned_by(); })
      .def_prop_ro("why_pageable", [](const HostMemory& own) { return own.memory->why_pageable(); })
      .def_prop_ro("pinned_slots", [](const HostMemory& own) { return own.memory->slots().pinned; })
      .def_prop_ro("pageable_slots",
                   [](const HostMemory& own) { return own.memory->slots().pageable; });
  module.def("pinned_by_cuda", &pinned_by_cuda, nb::arg("device"),
             nb::arg("library") = "libcuda.so.1");
}

}  // namespace unstarve::binding
