#include <array>

#include "feed/formats/image_format.h"
#include "feed/gif/gif_decoder.h"

namespace unstarve::feed {

namespace {

class Gif final : public ImageFormat {
 public:
  explicit Gif(const DecodeLimits& limits) : decoder_(limits.max_pixels) {}
  std::span<ImageDecoder* const> decoders() override { return decoders_; }

 private:
  GifDecoder decoder_;
  std::array<ImageDecoder*, 1> decoders_ = {&decoder_};
};

Result<std::unique_ptr<ImageFormat>> make_gif(const DecodeLimits& limits) {
  return std::make_unique<Gif>(limits);
}

}  // namespace

ImageFormatKind gif_format();
ImageFormatKind gif_format() { return {"GIF", {".gif"}, &is_gif, &make_gif}; }

}  // namespace unstarve::feed
