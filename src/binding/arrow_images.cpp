#include "binding/arrow_images.h"

#include <utility>

#include "binding/errors.h"
#include "binding/released.h"
#include "feed/formats/image_format.h"
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
  Result<feed::ImageColumn> column = [&] {
    const Released released;
    return feed::ImageColumn::open(*taken.get());
  }();
  column_ = std::make_shared<feed::ImageColumn>(value_or_raise(std::move(column)));
}

Result<std::shared_ptr<feed::ArrowSource>> ArrowImages::source(bool only_rgb) const {
  return feed::ArrowSource::open(column_, feed::LoaderParts::real().files, only_rgb);
}

nb::bytes ArrowImages::encoded(std::uint64_t row, bool only_rgb) const {
  const auto reader = value_or_raise(value_or_raise(source(only_rgb))->open_reader());
  const Result<feed::EncodedSample> sample = [&]() -> Result<feed::EncodedSample> {
    const Released released;
    Result<feed::EncodedSample> read = reader->read(row);
    if (!read) return read;
    if (const auto format = feed::FileFormats({}).find(read->bytes); !format) {
      return forward_error(format);
    }
    return read;
  }();
  if (!sample) raise(sample.error());
  return nb::bytes(sample->bytes.data(), sample->bytes.size());
}

void bind_arrow_images(nb::module_& module) {
  nb::class_<ArrowImages>(module, "ArrowImages")
      .def(nb::init<const nb::object&>(), nb::arg("stream"))
      .def("__len__", &ArrowImages::size)
      .def("encoded", &ArrowImages::encoded, nb::arg("row"), nb::arg("only_rgb") = false);
}

}  // namespace unstarve::binding
