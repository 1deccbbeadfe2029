#include "binding/arrow_images.h"

#include <utility>

#include "binding/errors.h"
#include "binding/released.h"
#include "feed/pipeline/loader_parts.h"

namespace nb = nanobind;

namespace unstarve::binding {

namespace {

/// As the interface names its capsules.
constexpr const char* kStreamName = "arrow_array_stream";

ArrowArrayStream& stream_in(const nb::object& capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), kStreamName));
  if (stream == nullptr) throw nb::python_error();
  if (stream->release == nullptr) throw nb::value_error("the stream has been used up");
  return *stream;
}

}  // namespace

ArrowImages::ArrowImages(const nb::object& stream) {
  feed::ArrowOwned<ArrowArrayStream> taken(stream_in(stream));
  Result<std::shared_ptr<feed::ArrowSource>> source =
      [&]() -> Result<std::shared_ptr<feed::ArrowSource>> {
    const Released released;
    Result<feed::ImageColumn> column = feed::ImageColumn::open(*taken.get());
    if (!column) return forward_error(column);
    return feed::ArrowSource::open(*std::move(column), feed::LoaderParts::real().files);
  }();
  source_ = value_or_raise(std::move(source));
}

nb::bytes ArrowImages::encoded(std::uint64_t row) const {
  const auto reader = value_or_raise(source_->open_reader());
  const Result<feed::EncodedSample> sample = [&] {
    const Released released;
    return reader->read(row);
  }();
  if (!sample) raise(sample.error());
  return nb::bytes(sample->bytes.data(), sample->bytes.size());
}

void bind_arrow_images(nb::module_& module) {
  nb::class_<ArrowImages>(module, "ArrowImages")
      .def(nb::init<const nb::object&>(), nb::arg("stream"))
      .def("__len__", &ArrowImages::size)
      .def("encoded", &ArrowImages::encoded, nb::arg("row"));
}

}  // namespace unstarve::binding
