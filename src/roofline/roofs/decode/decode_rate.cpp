#include "roofline/roofs/decode/decode_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/io/files.h"
#include "base/io/read.h"
#include "feed/data/geometry.h"
#include "feed/jpeg/baseline/baseline_decoder.h"
#include "feed/jpeg/libjpeg/jpeg_decoder.h"
#include "feed/jpeg/payload/payload_bytes.h"
#include "feed/jpeg/pixels/coefficient_decoder.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"
#include "kernels/simd_level.h"
#include "roofline/roofs/rate.h"
#include "roofline/roofs/repeats.h"

namespace unstarve::roofline {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPhotoBytes = 16U << 20;
constexpr std::size_t kMostPhotos = 256;
constexpr std::int64_t kMostPixels = 178'956'970;

using Bytes = std::vector<std::byte>;

/// Encoded images, all of one kind.
struct EncodedImages {
  std::vector<Bytes> images;
  double mean_bytes() const {
    std::size_t sum = 0;
    for (const Bytes& image : images) sum += image.size();
    return static_cast<double>(sum) / static_cast<double>(images.size());
  }
};

class PixelsDropped final : public feed::RowSink {
 public:
  void rows(const std::uint8_t* /*first*/, std::ptrdiff_t /*stride*/, int /*count*/) override {}
};

class PayloadInMemory final : public feed::PayloadBytes {
 public:
  explicit PayloadInMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Result<std::span<const std::byte>> read(std::uint64_t offset, std::size_t size,
                                          std::vector<std::byte>& /*buffer*/) override {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      return fail(ErrorCode::kCorruptData, "a payload ends early");
    }
    return bytes_.subspan(static_cast<std::size_t>(offset), size);
  }

 private:
  std::span<const std::byte> bytes_;
};

feed::Box whole(feed::ImageSize size) { return {0, 0, size.width, size.height}; }

Result<EncodedImages> read_photos(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".jpg") paths.push_back(entry.path().string());
  }
  if (failed) return fail_errno(failed.value(), fmt::format("cannot list {}", folder));
  std::sort(paths.begin(), paths.end());
  if (paths.size() > kMostPhotos) paths.resize(kMostPhotos);
  io::Files files;
  EncodedImages photos;
  for (const std::string& path : paths) {
    auto text = io::read_text(files, path, kMostPhotoBytes);
    if (!text) return forward_error(text);
    const auto bytes = std::as_bytes(std::span(*text));
    photos.images.emplace_back(bytes.begin(), bytes.end());
  }
  if (photos.images.empty()) return fail(ErrorCode::kNotFound, "no JPEG files in {}", folder);
  return photos;
}

Result<EncodedImages> coefficients_of(const EncodedImages& photos) {
  auto encoder = feed::CoefficientEncoder::create({});
  if (!encoder) return forward_error(encoder);
  EncodedImages payloads;
  for (const Bytes& photo : photos.images) {
    Bytes payload;
    if (Status encoded = encoder->encode(photo, payload); !encoded) return forward_error(encoded);
    payloads.images.push_back(std::move(payload));
  }
  return payloads;
}

/// Decodes one image after the other, each thread from another one on.
template <class DecodeOne>
Work decode_in_turn(const EncodedImages& photos, int thread, DecodeOne decode_one) {
  const std::size_t first = static_cast<std::size_t>(thread) * 7;
  return [&photos, next = first, decode_one]() mutable -> Result<double> {
    const Bytes& image = photos.images[next++ % photos.images.size()];
    if (Status decoded = decode_one(image); !decoded) return forward_error(decoded);
    return 1.0;
  };
}

/// Decoders are shared with the std::function only because that one is copied.
Result<Work> baseline_work(const EncodedImages& photos, int thread) {
  auto decoder = std::make_shared<feed::BaselineDecoder>(kMostPixels);
  return decode_in_turn(photos, thread, [decoder](const Bytes& image) -> Status {
    const auto size = decoder->open(image);
    if (!size) return forward_error(size);
    PixelsDropped dropped;
    return decoder->decode(whole(*size), dropped);
  });
}

Result<Work> libjpeg_work(const EncodedImages& photos, int thread) {
  auto made = feed::JpegDecoder::create({});
  if (!made) return forward_error(made);
  auto decoder = std::make_shared<feed::JpegDecoder>(std::move(*made));
  return decode_in_turn(photos, thread, [decoder](const Bytes& image) -> Status {
    const auto size = decoder->open(image);
    if (!size) return forward_error(size);
    PixelsDropped dropped;
    return decoder->decode(whole(*size), dropped);
  });
}

Result<Work> payload_work(const EncodedImages& payloads, int thread) {
  auto decoder = std::make_shared<feed::CoefficientDecoder>(kMostPixels);
  return decode_in_turn(payloads, thread, [decoder](const Bytes& image) -> Status {
    const auto size = decoder->open(image);
    if (!size) return forward_error(size);
    PayloadInMemory payload(image);
    PixelsDropped dropped;
    return decoder->decode(whole(*size), payload, dropped);
  });
}

/// Of one decoder, by 1 to all threads.
struct Decoder {
  const char* name;
  const EncodedImages* images;
  Result<Work> (*make)(const EncodedImages&, int thread);
};

void measure_decoder(const Machine& machine, const Decoder& decoder, std::int64_t duration_ns,
                     Session& session) {
  const std::vector<int> counts = thread_counts(machine.threads);
  for (const int threads : counts) {
    if (session.stopped()) return;
    session.doing(fmt::format("decoding JPEGs ({}), {} threads", decoder.name, threads));
    const auto rates = measure_rate(
        {.threads = threads, .duration_ns = duration_ns / static_cast<std::int64_t>(counts.size())},
        [&decoder](int thread) { return decoder.make(*decoder.images, thread); }, session);
    const std::string name = fmt::format("decode.{}.{}_threads", decoder.name, threads);
    if (!rates) return session.lacks(name, rates.error().message);
    if (session.stopped() && rates->empty()) return;
    Roof roof = make_roof(name, "images/s", *rates);
    const double mean_bytes = decoder.images->mean_bytes();
    roof.conditions.insert(roof.conditions.end(),
                           {{"threads", std::int64_t{threads}},
                            {"images_per_core_s", roof.value / threads},
                            {"encoded_bytes_per_s", roof.value * mean_bytes},
                            {"mean_image_bytes", mean_bytes},
                            {"images", static_cast<std::int64_t>(decoder.images->images.size())},
                            {"simd", kernels::simd_level()}});
    session.add(std::move(roof));
  }
}

}  // namespace

void measure_decode(const Machine& machine, const std::string& photo_folder,
                    std::int64_t duration_ns, Session& session) {
  if (photo_folder.empty()) {
    return session.lacks("decode", "the photographs were not found beside this program");
  }
  const auto photos = read_photos(photo_folder);
  if (!photos) return session.lacks("decode", photos.error().message);
  const auto payloads = coefficients_of(*photos);
  if (!payloads) return session.lacks("decode", payloads.error().message);
  const Decoder decoders[] = {{"unstarve", &*photos, baseline_work},
                              {"libjpeg", &*photos, libjpeg_work},
                              {"shard", &*payloads, payload_work}};
  for (const Decoder& decoder : decoders) {
    measure_decoder(machine, decoder, duration_ns * 5 / 6 / 3, session);
  }
}

}  // namespace unstarve::roofline
