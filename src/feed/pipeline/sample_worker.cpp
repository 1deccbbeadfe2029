#include "feed/pipeline/sample_worker.h"

#include <new>
#include <utility>

namespace unstarve::feed {
namespace {

tl::unexpected<Error> at(const SampleSource& source, std::uint64_t index, Error error) {
  error.message = fmt::format("{}: {}", source.locate(index), error.message);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Result<SampleWorker> SampleWorker::create(const Parts& parts) {
  DecodeLimits limits;
  limits.max_pixels = parts.options.max_pixels;
  limits.accept_damaged = parts.options.accept_damaged;
  Result<JpegDecoder> decoder = JpegDecoder::create(limits);
  if (!decoder) return forward_error(decoder);
  Result<std::unique_ptr<SampleReader>> reader = parts.source.open_reader();
  if (!reader) return forward_error(reader);
  return SampleWorker(parts, std::move(*decoder), std::move(*reader));
}

SampleWorker::SampleWorker(const Parts& parts, JpegDecoder decoder,
                           std::unique_ptr<SampleReader> reader)
    : parts_(parts),
      decoder_(std::move(decoder)),
      transform_(std::make_unique<SampleTransform>(parts.options.transform, parts.clock)),
      reader_(std::move(reader)) {}

Status SampleWorker::load(const DrawKey& key, std::uint8_t* out, SampleCost& cost) {
  try {
    const std::int64_t begun_ns = parts_.clock.now_ns();
    const Result<EncodedSample> sample = reader_->read(key.index);
    cost.read_ns += parts_.clock.now_ns() - begun_ns;
    if (!sample) return at(parts_.source, key.index, sample.error());
    cost.bytes += static_cast<std::int64_t>(sample->bytes.size());
    if (Status status = decode(key, *sample, out, cost); !status) {
      return at(parts_.source, key.index, status.error());
    }
    return {};
  } catch (const std::bad_alloc&) {
    return tl::unexpected<Error>(Error{ErrorCode::kOutOfMemory, "no memory to load a sample", 0});
  }
}

Status SampleWorker::decode(const DrawKey& key, const EncodedSample& sample, std::uint8_t* out,
                            SampleCost& cost) {
  if (sample.form != SampleForm::kFile) {
    return fail(ErrorCode::kNotSupported, "not an image file: nothing here decodes it");
  }
  const std::int64_t begun_ns = parts_.clock.now_ns();
  const Result<ImageSize> size = decoder_.open(sample.bytes);
  if (!size) return forward_error(size);
  SampleRandom random(key);
  const Box region = transform_->begin(*size, random, out);
  const Status status = decoder_.decode(region, transform_->sink());
  if (status) transform_->finish();
  cost.resize_ns += transform_->spent_ns();
  cost.decode_ns += parts_.clock.now_ns() - begun_ns - transform_->spent_ns();
  return status;
}

}  // namespace unstarve::feed
