#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "feed/coefficients/baseline/baseline_decoder.h"
#include "feed/decode/jpeg_decoder.h"
#include "feed/transform/sample_transform.h"

namespace {

using namespace unstarve;

/// Small enough that the fuzzer gets through many inputs, large enough for several strips.
constexpr std::int64_t kMaxPixels = 1 << 18;
constexpr int kSize = 40;

feed::JpegDecoder make_decoder(bool accept_damaged) {
  feed::DecodeLimits limits;
  limits.max_pixels = kMaxPixels;
  limits.max_scans = 20;
  limits.accept_damaged = accept_damaged;
  return *feed::JpegDecoder::create(limits);
}

/// Header, crop, decode and resize, as a loading thread does them.
void load(feed::JpegDecoder& decoder, std::span<const std::byte> bytes, std::uint32_t draw) {
  static const SteadyClock clock;
  static const feed::TransformPlan training = feed::training_crop(kSize);
  static const feed::TransformPlan evaluation = feed::evaluation_crop(kSize, kSize);
  static feed::SampleTransform train(training, clock);
  static feed::SampleTransform evaluate(evaluation, clock);
  std::vector<std::uint8_t> out(std::size_t{3} * kSize * kSize);
  const Result<feed::ImageSize> size = decoder.open(bytes);
  if (!size) return;
  feed::SampleRandom random({draw, 0, 0, 0});
  feed::SampleTransform& transform = draw % 4 == 0 ? evaluate : train;
  const feed::Box region = transform.begin(*size, random, out.data());
  if (decoder.decode(region, transform.sink())) transform.finish();
}

/// Keeps the rows.
class Collect final : public feed::RowSink {
 public:
  explicit Collect(int width) : width_(width) {}
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override {
    for (int row = 0; row < count; ++row) {
      const std::uint8_t* of_row = first + row * stride;
      pixels.insert(pixels.end(), of_row, of_row + std::ptrdiff_t{width_} * 3);
    }
  }
  std::vector<std::uint8_t> pixels;

 private:
  int width_;
};

template <class Decoder>
std::optional<std::vector<std::uint8_t>> pixels_of(Decoder& decoder,
                                                   std::span<const std::byte> bytes) {
  const Result<feed::ImageSize> size = decoder.open(bytes);
  if (!size) return std::nullopt;
  Collect sink(size->width);
  const feed::Box lower = {0, size->height / 2, size->width, size->height - size->height / 2};
  if (!decoder.decode(lower, sink)) return std::nullopt;
  return std::move(sink.pixels);
}

/// Where our own decoder has an answer, libjpeg has the same.
void compare(feed::JpegDecoder& libjpeg, std::span<const std::byte> bytes) {
  static feed::BaselineDecoder ours(kMaxPixels);
  const auto pixels = pixels_of(ours, bytes);
  if (pixels && pixels != pixels_of(libjpeg, bytes)) std::abort();
}

}  // namespace

/// Image files come from anywhere. The decoders are kept between inputs, as in the loader, so that
/// what one image leaves behind meets the next.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static feed::JpegDecoder strict = make_decoder(false);
  static feed::JpegDecoder lenient = make_decoder(true);
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto draw = static_cast<std::uint32_t>(size) * 2654435761U;
  load(strict, bytes, draw);
  load(lenient, bytes, draw + 1);
  compare(strict, bytes);
  return 0;
}
