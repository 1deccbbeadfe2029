#include <array>

#include "feed/formats/colour_mode.h"
#include "feed/formats/image_format.h"
#include "feed/formats/orientation.h"
#include "feed/png/png_decoder.h"

namespace unstarve::feed {

namespace {

class Png final : public ImageFormat {
 public:
  explicit Png(const DecodeLimits& limits) : decoder_(limits.max_pixels) {}
  std::span<ImageDecoder* const> decoders() override { return decoders_; }

 private:
  PngDecoder decoder_;
  std::array<ImageDecoder*, 1> decoders_ = {&decoder_};
};

Result<std::unique_ptr<ImageFormat>> make_png(const DecodeLimits& limits) {
  return std::make_unique<Png>(limits);
}

}  // namespace

ImageFormatKind png_format();
ImageFormatKind png_format() {
  return {"PNG", {".png"}, &is_png, &make_png, &png_may_turn, &png_is_rgb};
}

}  // namespace unstarve::feed
