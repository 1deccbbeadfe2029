#include <array>

#include "feed/bmp/bmp_decoder.h"
#include "feed/formats/image_format.h"

namespace unstarve::feed {

namespace {

class Bmp final : public ImageFormat {
 public:
  explicit Bmp(const DecodeLimits& limits) : decoder_(limits.max_pixels) {}
  std::span<ImageDecoder* const> decoders() override { return decoders_; }

 private:
  BmpDecoder decoder_;
  std::array<ImageDecoder*, 1> decoders_ = {&decoder_};
};

Result<std::unique_ptr<ImageFormat>> make_bmp(const DecodeLimits& limits) {
  return std::make_unique<Bmp>(limits);
}

}  // namespace

ImageFormatKind bmp_format();
ImageFormatKind bmp_format() { return {"BMP", {".bmp"}, &is_bmp, &make_bmp}; }

}  // namespace unstarve::feed
