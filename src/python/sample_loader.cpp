#include "feed/pipeline/sample_loader.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "feed/pipeline/loader_parts.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace unstarve::python {
namespace {

using Pixels = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A SampleLoader for any thread: they take turns, since loading drops the GIL.
class PythonSampleLoader {
 public:
  explicit PythonSampleLoader(const feed::LoaderOptions& options)
      : PythonSampleLoader(options, feed::LoaderParts::real()) {}

  void load(const nb::bytes& path, std::uint32_t epoch, std::uint32_t index, std::uint16_t repeat,
            const Pixels& out) {
    const std::string file(path.c_str(), path.size());
    const Status status = [&] {
      const nb::gil_scoped_release released;
      const MutexLock lock(mutex_);
      return loader_->load({file, epoch, index, repeat}, {out.data(), out.size()});
    }();
    if (!status) raise(status.error());
  }
  std::size_t image_bytes() const { return image_bytes_; }

 private:
  PythonSampleLoader(const feed::LoaderOptions& options, const feed::LoaderParts& parts)
      : loader_(value_or_raise(feed::SampleLoader::open(options, parts.reader, parts.clock))),
        image_bytes_(loader_->image_bytes()) {}

  Mutex mutex_;
  const std::unique_ptr<feed::SampleLoader> loader_ UNSTARVE_GUARDED_BY(mutex_);
  const std::size_t image_bytes_;
};

}  // namespace

void bind_sample_loader(nb::module_& module) {
  nb::class_<PythonSampleLoader>(module, "SampleLoader")
      .def(nb::init<const feed::LoaderOptions&>(), nb::arg("options"))
      .def("load", &PythonSampleLoader::load, nb::arg("path"), nb::arg("epoch"), nb::arg("index"),
           nb::arg("repeat"), nb::arg("out"))
      .def_prop_ro("image_bytes", &PythonSampleLoader::image_bytes);
}

}  // namespace unstarve::python
