#include <array>

#include "feed/formats/image_format.h"
#include "feed/tiff/tiff_decoder.h"

namespace unstarve::feed {

namespace {

class Tiff final : public ImageFormat {
 public:
  explicit Tiff(const DecodeLimits& limits) : decoder_(limits.max_pixels) {}
  std::span<ImageDecoder* const> decoders() override { return decoders_; }

 private:
  TiffDecoder decoder_;
  std::array<ImageDecoder*, 1> decoders_ = {&decoder_};
};

Result<std::unique_ptr<ImageFormat>> make_tiff(const DecodeLimits& limits) {
  return std::make_unique<Tiff>(limits);
}

}  // namespace

ImageFormatKind tiff_format();
ImageFormatKind tiff_format() {
  return {"TIFF", {".tif", ".tiff"}, &is_tiff, &make_tiff, &tiff_may_turn, &tiff_is_rgb};
}

}  // namespace unstarve::feed
