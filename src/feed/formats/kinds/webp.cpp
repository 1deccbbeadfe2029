#include <array>

#include "feed/formats/colour_mode.h"
#include "feed/formats/image_format.h"
#include "feed/formats/orientation.h"
#include "feed/webp/webp_decoder.h"

namespace unstarve::feed {

namespace {

class Webp final : public ImageFormat {
 public:
  explicit Webp(const DecodeLimits& limits) : decoder_(limits.max_pixels) {}
  std::span<ImageDecoder* const> decoders() override { return decoders_; }

 private:
  WebpDecoder decoder_;
  std::array<ImageDecoder*, 1> decoders_ = {&decoder_};
};

Result<std::unique_ptr<ImageFormat>> make_webp(const DecodeLimits& limits) {
  return std::make_unique<Webp>(limits);
}

}  // namespace

ImageFormatKind webp_format();
ImageFormatKind webp_format() {
  return {"WebP", {".webp"}, &is_webp, &make_webp, &webp_may_turn, &webp_is_rgb};
}

}  // namespace unstarve::feed
