#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/clock.h"
#include "feed/data/geometry.h"
#include "feed/jpeg/baseline/baseline_decoder.h"
#include "feed/jpeg/libjpeg/jpeg_decoder.h"
#include "feed/jpeg/pixels/coefficient_decoder.h"
#include "feed/jpeg/testing/payload_in_memory.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"
#include "feed/testing/collected_rows.h"
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
  if (decoder.decode(region, transform.sink())) (void)transform.finish();
}

feed::Box lower_half(feed::ImageSize size) {
  return {0, size.height / 2, size.width, size.height - size.height / 2};
}

/// May end above the damage that the rest of the image has.
feed::Box upper_part(feed::ImageSize size) {
  return {size.width / 3, 0, size.width - size.width / 3, 1 + size.height / 4};
}

/// Where our own decoder has an answer, libjpeg has the same. It may see damage below a region that
/// ends earlier: it decodes more rows at a time.
void compare(feed::BaselineDecoder& ours, feed::JpegDecoder& libjpeg,
             std::span<const std::byte> bytes) {
  const Result<feed::ImageSize> size = ours.open(bytes);
  if (!size) return;
  for (const feed::Box& region : {lower_half(*size), upper_part(*size)}) {
    const auto pixels = feed::test::decode_region(ours, bytes, region);
    if (!pixels) continue;
    const auto expected = feed::test::decode_region(libjpeg, bytes, region);
    const bool to_the_end = region.y + region.height == size->height;
    if (expected ? *expected != *pixels : to_the_end) std::abort();
  }
}

/// `payload`, which would be kept for later epochs, has the pixels of the file.
void check_copy(feed::JpegDecoder& libjpeg, std::span<const std::byte> bytes,
                const std::vector<std::byte>& payload) {
  static feed::CoefficientDecoder copies(kMaxPixels);
  feed::test::PayloadInMemory copy(payload);
  const Result<feed::ImageSize> size = copies.open(copy.head());
  if (!size) std::abort();
  const feed::Box all = {0, 0, size->width, size->height};
  const auto pixels = feed::test::decode_region(copies, copy, all);
  const auto expected = feed::test::decode_region(libjpeg, bytes, all);
  if (!pixels || !expected || *pixels != *expected) std::abort();
}

/// What a loader with a cache does with a file.
void keep(feed::BaselineDecoder& ours, feed::JpegDecoder& libjpeg,
          std::span<const std::byte> bytes) {
  static feed::CoefficientEncoder encoder =
      *feed::CoefficientEncoder::create({.max_pixels = kMaxPixels, .max_scans = 20});
  static std::vector<std::byte> payload;
  if (const Result<feed::ImageSize> size = ours.open(bytes)) {
    feed::test::CollectedRows sink(size->width);
    if (ours.decode_and_encode(lower_half(*size), sink, payload)) {
      const auto expected = feed::test::decode_region(libjpeg, bytes, lower_half(*size));
      if (!expected || *expected != sink.pixels) std::abort();
      return check_copy(libjpeg, bytes, payload);
    }
  }
  const Result<feed::ImageSize> size = libjpeg.open(bytes);
  if (!size || !feed::test::decode_region(libjpeg, bytes, lower_half(*size))) return;
  if (encoder.encode(bytes, payload)) check_copy(libjpeg, bytes, payload);
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
  static feed::BaselineDecoder ours(kMaxPixels);
  compare(ours, strict, bytes);
  keep(ours, strict, bytes);
  return 0;
}
