#include "feed/pipeline/sample_worker.h"

#include <new>
#include <utility>

#include "feed/transform/draw_geometry.h"

namespace unstarve::feed {
namespace {

Error with_path(const std::string& path, Error error) {
  error.message = fmt::format("{}: {}", path, error.message);
  return error;
}

}  // namespace

Result<SampleWorker> SampleWorker::create(const Parts& parts) {
  DecodeLimits limits;
  limits.max_pixels = parts.options.max_pixels;
  limits.accept_damaged = parts.options.accept_damaged;
  Result<JpegDecoder> decoder = JpegDecoder::create(limits);
  if (!decoder) return forward_error(decoder);
  return SampleWorker(parts, std::move(*decoder));
}

SampleWorker::SampleWorker(const Parts& parts, JpegDecoder decoder)
    : parts_(parts),
      decoder_(std::move(decoder)),
      sink_(std::make_unique<ResizeSink>(parts.clock)) {}

Status SampleWorker::load(const DrawKey& key, std::uint8_t* out, SampleCost& cost) {
  try {
    const std::string path = parts_.folder.path(key.index);
    const std::int64_t begun_ns = parts_.clock.now_ns();
    const Result<std::span<const std::byte>> bytes =
        parts_.reader.read(path, parts_.options.max_file_bytes, file_);
    cost.read_ns += parts_.clock.now_ns() - begun_ns;
    if (!bytes) return tl::unexpected<Error>(with_path(path, bytes.error()));
    cost.bytes += static_cast<std::int64_t>(bytes->size());
    if (Status status = decode(key, *bytes, out, cost); !status) {
      return tl::unexpected<Error>(with_path(path, status.error()));
    }
    return {};
  } catch (const std::bad_alloc&) {
    return tl::unexpected<Error>(Error{ErrorCode::kOutOfMemory, "no memory to load a sample", 0});
  }
}

Status SampleWorker::decode(const DrawKey& key, std::span<const std::byte> bytes, std::uint8_t* out,
                            SampleCost& cost) {
  const std::int64_t begun_ns = parts_.clock.now_ns();
  const Result<ImageSize> size = decoder_.open(bytes);
  if (!size) return forward_error(size);
  SampleRandom random(key);
  const SampleGeometry geometry = draw_geometry(parts_.options, *size, random);
  const Box region = sink_->begin(geometry, out);
  const Status status = decoder_.decode(region, *sink_);
  cost.resize_ns += sink_->spent_ns();
  cost.decode_ns += parts_.clock.now_ns() - begun_ns - sink_->spent_ns();
  return status;
}

}  // namespace unstarve::feed
