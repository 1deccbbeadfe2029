#include "device/emulated/emulated_gpu.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "device/emulated/resnet50.h"
#include "python/released.h"

namespace nb = nanobind;

namespace unstarve::python {

namespace {

using namespace unstarve::device::emulated;

/// The exception that a Python user expects for each kind of failure.
[[noreturn]] void raise(const Error& error) {
  PyObject* kind = PyExc_RuntimeError;
  if (error.code == ErrorCode::kInvalidArgument) kind = PyExc_ValueError;
  if (error.code == ErrorCode::kOutOfMemory) kind = PyExc_MemoryError;
  if (error.code == ErrorCode::kNotFound || error.code == ErrorCode::kIo) kind = PyExc_OSError;
  PyErr_SetString(kind, error.message.c_str());
  throw nb::python_error();
}

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}
void check(const Status& status) {
  if (!status) raise(status.error());
}

/// An EmulatedGpu on the real clock, with the model that its profile was published for.
///
/// Who holds the GIL: forward and the optimizer keep it while they launch, since an eager framework
/// runs Python between any two launches there. Backward drops it: a framework launches backward
/// from its own engine in C++. Copies and waits drop it, as they do in PyTorch.
class PythonGpu {
 public:
  PythonGpu(const std::string& profile, const std::string& ring_path, std::int32_t index)
      : gpu_(value_or_raise(EmulatedGpu::open(value_or_raise(find_profile(profile)),
                                              {.ring_path = ring_path, .index = index},
                                              {clock_, work_}))),
        model_(resnet50(gpu_->profile())) {}

  const Profile& profile() const { return gpu_->profile(); }
  const TrainingModel& model() const { return model_; }
  std::int64_t memory_used_bytes() const { return gpu_->memory_used_bytes(); }

  std::shared_ptr<DeviceMemory> allocate(std::int64_t bytes) {
    return value_or_raise(gpu_->allocate(bytes));
  }

  /// Returns the time at which the bytes are there, for forward() to wait for.
  std::int64_t upload(std::int64_t bytes, bool pinned, bool overlap) {
    const Stream stream = overlap ? Stream::kUpload : Stream::kCompute;
    Status copied;
    {
      const Released released;
      copied = gpu_->copy({.bytes = bytes,
                           .host_memory = pinned ? HostMemory::kPinned : HostMemory::kPageable,
                           .direction = Direction::kHostToDevice,
                           .stream = stream});
    }
    check(copied);
    return gpu_->record_event(stream).ready_ns;
  }

  void download(std::int64_t bytes) {
    Status copied;
    {
      const Released released;
      copied = gpu_->copy({.bytes = bytes, .direction = Direction::kDeviceToHost});
    }
    check(copied);
  }

  void forward(double samples, bool normalize, std::int64_t images_ready_ns) {
    gpu_->wait_event(Stream::kCompute, {images_ready_ns});
    if (normalize) check(gpu_->launch(model_.normalize, samples, Stream::kCompute));
    check(gpu_->launch(model_.forward, samples, Stream::kCompute));
  }

  void backward(double samples) {
    Status launched;
    {
      const Released released;
      launched = gpu_->launch(model_.backward, samples, Stream::kCompute);
    }
    check(launched);
  }

  void optimizer_step() { check(gpu_->launch(model_.optimizer, 0, Stream::kCompute)); }

  void synchronize(bool whole_device) {
    Status waited;
    {
      const Released released;
      waited = whole_device ? gpu_->synchronize_device() : gpu_->synchronize(Stream::kCompute);
    }
    check(waited);
  }

 private:
  SteadyClock clock_;
  BusyHostWork work_;
  std::unique_ptr<EmulatedGpu> gpu_;
  TrainingModel model_;
};

}  // namespace

void bind_emulated_gpu(nb::module_& module) {
  nb::class_<DeviceMemory>(module, "EmulatedDeviceMemory")
      .def_prop_ro("nbytes", &DeviceMemory::bytes);
  nb::class_<PythonGpu>(module, "EmulatedGpu")
      .def(nb::init<const std::string&, const std::string&, std::int32_t>(), nb::arg("profile"),
           nb::arg("ring_path"), nb::arg("index"))
      .def_prop_ro("profile", [](const PythonGpu& gpu) { return gpu.profile().name; })
      .def_prop_ro("name", [](const PythonGpu& gpu) { return gpu.profile().device_name; })
      .def_prop_ro("source", [](const PythonGpu& gpu) { return gpu.profile().source; })
      .def_prop_ro("total_memory_bytes",
                   [](const PythonGpu& gpu) { return gpu.profile().total_memory_bytes; })
      .def_prop_ro("memory_used_bytes", &PythonGpu::memory_used_bytes)
      .def_prop_ro("model_state_bytes",
                   [](const PythonGpu& gpu) { return gpu.model().state_bytes; })
      .def_prop_ro("activation_bytes_per_sample",
                   [](const PythonGpu& gpu) { return gpu.model().activation_bytes_per_sample; })
      .def("allocate", &PythonGpu::allocate, nb::arg("bytes"))
      .def("upload", &PythonGpu::upload, nb::arg("bytes"), nb::arg("pinned"), nb::arg("overlap"))
      .def("download", &PythonGpu::download, nb::arg("bytes"))
      .def("forward", &PythonGpu::forward, nb::arg("samples"), nb::arg("normalize"),
           nb::arg("images_ready_ns"))
      .def("backward", &PythonGpu::backward, nb::arg("samples"))
      .def("optimizer_step", &PythonGpu::optimizer_step)
      .def("synchronize", &PythonGpu::synchronize, nb::arg("whole_device"));
}

}  // namespace unstarve::python
