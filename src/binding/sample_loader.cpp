#include "feed/pipeline/sample_loader.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "binding/errors.h"
#include "binding/file_list.h"
#include "binding/released.h"
#include "feed/pipeline/image_cutter.h"
#include "feed/pipeline/loader_parts.h"
#include "feed/png/png_decoder.h"
#include "kernels/pixels/colour_adjust.h"
#include "kernels/pixels/convert.h"
#include "kernels/pixels/normalise.h"

namespace nb = nanobind;

namespace unstarve::binding {
namespace {

using Pixels = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenPixels = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const std::byte> bytes_of(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

/// A SampleLoader for any thread: they take turns, since loading drops the GIL.
class PythonSampleLoader {
 public:
  PythonSampleLoader(const feed::LoaderOptions& options, const FileList* files)
      : loader_(value_or_raise(feed::SampleLoader::open(
            options, files == nullptr ? nullptr : files->source(), feed::LoaderParts::real()))),
        image_bytes_(loader_->image_bytes()) {}
  ~PythonSampleLoader() {
    // Without the mutex: in a forked child a thread that is not there may hold it.
    const Released released;
    loader_.reset();
  }
  PythonSampleLoader(const PythonSampleLoader&) = delete;
  PythonSampleLoader& operator=(const PythonSampleLoader&) = delete;

  void load(const nb::bytes& path, std::uint32_t epoch, std::uint32_t index, std::uint16_t repeat,
            const Pixels& out) {
    const std::string file(path.c_str(), path.size());
    const Status status = [&] {
      const Released released;
      return load_locked({file, epoch, index, repeat}, {out.data(), out.size()});
    }();
    if (!status) raise(status.error());
  }

  /// The same of bytes that are there already; what is drawn follows from the two numbers.
  void load_bytes(const nb::bytes& bytes, std::uint32_t epoch, std::uint32_t index,
                  const Pixels& out) {
    const std::string name = "an image in memory";
    const std::span<const std::byte> encoded = bytes_of(bytes);
    const Status status = [&] {
      const Released released;
      return load_locked({name, epoch, index, 0, encoded}, {out.data(), out.size()});
    }();
    if (!status) raise(status.error());
  }

  /// Without the GIL: copies that wait are written.
  void close() {
    const Released released;
    const MutexLock lock(mutex_);
    loader_.reset();
  }
  std::size_t image_bytes() const { return image_bytes_; }

 private:
  Status load_locked(const feed::SampleLoader::Sample& sample, std::span<std::uint8_t> out) {
    const MutexLock lock(mutex_);
    if (loader_ != nullptr) return loader_->load(sample, out);
    return fail(ErrorCode::kCancelled, "the loader has been closed");
  }

  Mutex mutex_;
  std::unique_ptr<feed::SampleLoader> loader_ UNSTARVE_GUARDED_BY(mutex_);
  const std::size_t image_bytes_;
};

/// An ImageCutter for any thread: they take turns, since decoding drops the GIL.
class PythonImageCutter {
 public:
  explicit PythonImageCutter(std::int64_t max_pixels)
      : cutter_({.max_pixels = max_pixels, .accept_damaged = true}) {}

  /// `cut`: left, top, width and height of the crop, width and height of the target, the window as
  /// the crop, whether it is bicubic, mirrored left to right, top to bottom.
  void cut(const nb::bytes& bytes, const std::array<int, 13>& cut, const Pixels& out) {
    feed::SampleGeometry geometry;
    geometry.crop = {cut[0], cut[1], cut[2], cut[3]};
    geometry.target = {cut[4], cut[5]};
    geometry.window = {cut[6], cut[7], cut[8], cut[9]};
    geometry.interpolation =
        cut[10] != 0 ? feed::Interpolation::kBicubic : feed::Interpolation::kBilinear;
    geometry.flip = cut[11] != 0;
    geometry.vertical_flip = cut[12] != 0;
    const auto file = bytes_of(bytes);
    const Status status = [&] {
      const Released released;
      const MutexLock lock(mutex_);
      return cutter_.cut(file, geometry, {out.data(), out.size()});
    }();
    if (!status) raise(status.error());
  }

 private:
  Mutex mutex_;
  feed::ImageCutter cutter_ UNSTARVE_GUARDED_BY(mutex_);
};

/// A PngDecoder for any thread, as above.
class PythonPngDecoder {
 public:
  explicit PythonPngDecoder(std::int64_t max_pixels) : decoder_(max_pixels) {}

  /// Whether every checksum of a file is right, nothing but its end follows its pixels, and nothing
  /// in it is for PIL alone to judge.
  bool is_sound(const nb::bytes& bytes) {
    const auto file = bytes_of(bytes);
    const Released released;
    const MutexLock lock(mutex_);
    return decoder_.open(file) && decoder_.ends_soundly();
  }

  /// Its pixels as they are stored, a byte a sample.
  void decode_stored(const nb::bytes& bytes, const Pixels& out) {
    const auto file = bytes_of(bytes);
    const Status status = [&]() -> Status {
      const Released released;
      const MutexLock lock(mutex_);
      if (const auto size = decoder_.open(file); !size) return forward_error(size);
      return decoder_.decode_stored({out.data(), out.size()});
    }();
    if (!status) raise(status.error());
  }

 private:
  Mutex mutex_;
  feed::PngDecoder decoder_ UNSTARVE_GUARDED_BY(mutex_);
};

kernels::ColourOp colour_op(const std::string& name) {
  if (name == "brightness") return kernels::ColourOp::kBrightness;
  if (name == "contrast") return kernels::ColourOp::kContrast;
  if (name == "saturation") return kernels::ColourOp::kSaturation;
  if (name == "hue") return kernels::ColourOp::kHue;
  throw nb::value_error(("there is no change of colour called " + name).c_str());
}

/// `pixels`: interleaved RGB, changed in place.
void adjust_colour(const std::string& name, double factor, const Pixels& pixels) {
  const kernels::ColourOp op = colour_op(name);
  if (pixels.size() % kernels::kChannels != 0) {
    throw nb::value_error("pixels of RGB are three bytes each");
  }
  const Released released;
  kernels::adjust_colour(op, factor, pixels.data(), pixels.size() / kernels::kChannels);
}

void check_same_pixels(std::size_t given, std::size_t wanted) {
  if (given % kernels::kChannels == 0 && given == wanted) return;
  throw nb::value_error("pixels have three channels each, before and after");
}

using Floats = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenFloats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

kernels::ValueScale scale_of(const std::string& name) {
  if (name == "none") return kernels::ValueScale::kNone;
  if (name == "divide") return kernels::ValueScale::kDivide;
  if (name == "multiply") return kernels::ValueScale::kMultiply;
  throw nb::value_error(("there is no scale called " + name).c_str());
}

/// Bytes of interleaved RGB as float32, all of red, then green, then blue: as they are, divided by
/// 255 or, as torchvision's second ToDtype does it, multiplied by 1 / 255; and normalised where
/// `deviation` has numbers.
void convert_pixels(const GivenPixels& pixels, const std::array<float, 3>& mean,
                    const std::optional<std::array<float, 3>>& deviation, const Floats& out,
                    const std::string& scale) {
  check_same_pixels(pixels.size(), out.size());
  kernels::Conversion conversion;
  conversion.planar = true;
  conversion.scale = scale_of(scale);
  conversion.normalise = deviation.has_value();
  conversion.mean = mean;
  if (deviation) conversion.deviation = *deviation;
  const Released released;
  kernels::convert_pixels(conversion, pixels.data(), pixels.size() / kernels::kChannels,
                          out.data());
}

/// Bytes as float32, each by itself, in the order in which they lie.
void scale_bytes(const GivenPixels& bytes, const Floats& out, const std::string& scale) {
  check_same_pixels(bytes.size(), out.size());
  kernels::Conversion conversion;
  conversion.scale = scale_of(scale);
  const Released released;
  kernels::convert_pixels(conversion, bytes.data(), bytes.size() / kernels::kChannels, out.data());
}

/// Three channels of `values`, as torchvision's Normalize. `out` may be `values`.
void normalise(const GivenFloats& values, const std::array<float, 3>& mean,
               const std::array<float, 3>& deviation, const Floats& out, bool is_planar) {
  check_same_pixels(values.size(), out.size());
  const Released released;
  kernels::normalise({mean, deviation, is_planar}, values.data(),
                     values.size() / kernels::kChannels, out.data());
}

/// Three channels of `bytes`, pixel by pixel, as albumentations' Normalize.
void normalise_bytes(const GivenPixels& bytes, const std::array<float, 3>& mean,
                     const std::array<float, 3>& factor, const Floats& out) {
  check_same_pixels(bytes.size(), out.size());
  const Released released;
  kernels::normalise_bytes({mean, factor}, bytes.data(), bytes.size() / kernels::kChannels,
                           out.data());
}

}  // namespace

void bind_sample_loader(nb::module_& module) {
  nb::class_<FileList>(module, "FileList")
      .def(nb::init<const nb::bytes&, const LabelList&>(), nb::arg("paths"), nb::arg("labels"));
  nb::class_<PythonSampleLoader>(module, "SampleLoader")
      .def(nb::init<const feed::LoaderOptions&, const FileList*>(), nb::arg("options"),
           nb::arg("files") = nb::none())
      .def("close", &PythonSampleLoader::close)
      .def("load", &PythonSampleLoader::load, nb::arg("path"), nb::arg("epoch"), nb::arg("index"),
           nb::arg("repeat"), nb::arg("out"))
      .def("load_bytes", &PythonSampleLoader::load_bytes, nb::arg("bytes"), nb::arg("epoch"),
           nb::arg("index"), nb::arg("out"))
      .def_prop_ro("image_bytes", &PythonSampleLoader::image_bytes);
  module.def("convert_pixels", &convert_pixels, nb::arg("pixels"), nb::arg("mean"),
             nb::arg("deviation").none(), nb::arg("out"), nb::arg("scale") = "multiply");
  module.def("scale_bytes", &scale_bytes, nb::arg("bytes"), nb::arg("out"), nb::arg("scale"));
  module.def("normalise", &normalise, nb::arg("values"), nb::arg("mean"), nb::arg("deviation"),
             nb::arg("out"), nb::arg("is_planar"));
  module.def("normalise_bytes", &normalise_bytes, nb::arg("bytes"), nb::arg("mean"),
             nb::arg("factor"), nb::arg("out"));
  module.def("adjust_colour", &adjust_colour, nb::arg("name"), nb::arg("factor"),
             nb::arg("pixels"));
  nb::class_<PythonImageCutter>(module, "ImageCutter")
      .def(nb::init<std::int64_t>(), nb::arg("max_pixels"))
      .def("cut", &PythonImageCutter::cut, nb::arg("bytes"), nb::arg("cut"), nb::arg("out"));
  nb::class_<PythonPngDecoder>(module, "PngDecoder")
      .def(nb::init<std::int64_t>(), nb::arg("max_pixels"))
      .def("is_sound", &PythonPngDecoder::is_sound, nb::arg("bytes"))
      .def("decode_stored", &PythonPngDecoder::decode_stored, nb::arg("bytes"), nb::arg("out"));
}

}  // namespace unstarve::binding
