#include <array>
#include <optional>
#include <utility>

#include "feed/data/decode_errors.h"
#include "feed/formats/colour_mode.h"
#include "feed/formats/image_format.h"
#include "feed/formats/orientation.h"
#include "feed/jpeg/baseline/baseline_decoder.h"
#include "feed/jpeg/libjpeg/end_marker.h"
#include "feed/jpeg/libjpeg/jpeg_decoder.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"

namespace unstarve::feed {

namespace {

/// As BaselineDecoder, and leaves the image's coefficients in the payload.
class KeepingDecoder final : public ImageDecoder {
 public:
  explicit KeepingDecoder(BaselineDecoder& decoder) : decoder_(decoder) {}
  void keep_in(std::vector<std::byte>& payload) { payload_ = &payload; }
  Result<ImageSize> open(std::span<const std::byte> file) override { return decoder_.open(file); }
  Status decode(const Box& region, RowSink& sink) override {
    return decoder_.decode_and_encode(region, sink, *payload_);
  }

 private:
  BaselineDecoder& decoder_;
  std::vector<std::byte>* payload_ = nullptr;
};

/// Ours reads the usual files; whatever it does not like is libjpeg's to judge.
class Jpeg final : public ImageFormat {
 public:
  Jpeg(const DecodeLimits& limits, JpegDecoder libjpeg)
      : limits_(limits), libjpeg_(std::move(libjpeg)), baseline_(limits.max_pixels) {}

  std::span<ImageDecoder* const> decoders() override { return decoders_; }

  Status check_whole(std::span<const std::byte> file) override {
    if (reaches_end_marker(file)) return {};
    return cut_short();
  }

  ImageDecoder* keeping_decoder(std::vector<std::byte>& payload) override {
    keeping_.keep_in(payload);
    return &keeping_;
  }

  Status encode(std::span<const std::byte> file, std::vector<std::byte>& payload) override {
    if (!encoder_) {
      Result<CoefficientEncoder> made =
          CoefficientEncoder::create({.max_pixels = limits_.max_pixels});
      if (!made) return forward_error(made);
      encoder_ = std::move(*made);
    }
    return encoder_->encode(file, payload);
  }

 private:
  DecodeLimits limits_;
  JpegDecoder libjpeg_;
  BaselineDecoder baseline_;
  KeepingDecoder keeping_{baseline_};
  std::array<ImageDecoder*, 2> decoders_ = {&baseline_, &libjpeg_};
  std::optional<CoefficientEncoder> encoder_;  // since the first file that baseline_ cannot read
};

bool begins(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{0xFF} && file[1] == std::byte{0xD8};
}

Result<std::unique_ptr<ImageFormat>> make(const DecodeLimits& limits) {
  Result<JpegDecoder> libjpeg = JpegDecoder::create(limits);
  if (!libjpeg) return forward_error(libjpeg);
  return std::make_unique<Jpeg>(limits, std::move(*libjpeg));
}

}  // namespace

ImageFormatKind jpeg_format();
ImageFormatKind jpeg_format() {
  return {"JPEG", {".jpg", ".jpeg"}, &begins, &make, &jpeg_may_turn, &jpeg_is_rgb};
}

}  // namespace unstarve::feed
