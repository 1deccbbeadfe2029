#include "feed/pipeline/loading/sample_stages.h"

#include <new>
#include <utility>

#include "feed/jpeg/payload/payload.h"

namespace unstarve::feed {
namespace {

tl::unexpected<Error> at(const SampleSource& source, std::uint64_t index, Error error) {
  error.message = fmt::format("{}: {}", source.locate(index), error.message);
  return tl::unexpected<Error>(std::move(error));
}

/// The payload of the sample that was read last; counts what is read of it.
class PayloadOfSample final : public PayloadBytes {
 public:
  PayloadOfSample(SampleReader& reader, const Clock& clock, SampleCost& cost)
      : reader_(reader), clock_(clock), cost_(cost) {}
  Result<std::span<const std::byte>> read(std::uint64_t offset, std::size_t size,
                                          std::vector<std::byte>& buffer) override {
    const std::int64_t begun_ns = clock_.now_ns();
    Result<std::span<const std::byte>> bytes = reader_.read_part(offset, size, buffer);
    cost_.read_ns += clock_.now_ns() - begun_ns;
    if (bytes) cost_.bytes += static_cast<std::int64_t>(bytes->size());
    return bytes;
  }

 private:
  SampleReader& reader_;
  const Clock& clock_;
  SampleCost& cost_;
};

/// CoefficientDecoder, of one payload.
class PayloadDecoder {
 public:
  PayloadDecoder(CoefficientDecoder& decoder, PayloadBytes& payload)
      : decoder_(decoder), payload_(payload) {}
  Result<ImageSize> open(std::span<const std::byte> head) { return decoder_.open(head); }
  Status decode(const Box& region, RowSink& sink) {
    return decoder_.decode(region, payload_, sink);
  }

 private:
  CoefficientDecoder& decoder_;
  PayloadBytes& payload_;
};

}  // namespace

Result<SampleStages> SampleStages::create(const Inputs& inputs) {
  Result<std::unique_ptr<SampleReader>> reader = inputs.source.open_reader();
  if (!reader) return forward_error(reader);
  return SampleStages(inputs, std::move(*reader));
}

SampleStages::SampleStages(const Inputs& inputs, std::unique_ptr<SampleReader> reader)
    : inputs_(inputs),
      formats_({.max_pixels = inputs.options.max_pixels,
                .accept_damaged = inputs.options.accept_damaged}),
      coefficients_(inputs.options.max_pixels),
      transform_(std::make_unique<SampleTransform>(inputs.options.transform, inputs.clock)),
      reader_(std::move(reader)) {}

Status SampleStages::load(const DrawKey& key, std::uint8_t* out, SampleCost& cost) {
  try {
    const std::int64_t begun_ns = inputs_.clock.now_ns();
    const Result<EncodedSample> sample = reader_->read(key.index);
    cost.read_ns += inputs_.clock.now_ns() - begun_ns;
    if (!sample) return at(inputs_.source, key.index, sample.error());
    cost.bytes += static_cast<std::int64_t>(sample->bytes.size());
    if (Status status = decode(key, *sample, out, cost); !status) {
      return at(inputs_.source, key.index, status.error());
    }
    return {};
  } catch (const std::bad_alloc&) {
    return tl::unexpected<Error>(Error{ErrorCode::kOutOfMemory, "no memory to load a sample", 0});
  }
}

ReadHint SampleStages::hint(std::uint64_t index) {
  try {
    return reader_->hint(index);
  } catch (const std::bad_alloc&) {
    return ReadHint::kNone;  // the read will say so
  }
}

Status SampleStages::decode(const DrawKey& key, const EncodedSample& sample, std::uint8_t* out,
                            SampleCost& cost) {
  switch (sample.form) {
    case SampleForm::kFile: return decode_file(sample, {key, out, cost});
    case SampleForm::kTensor: return decode_with(tensor_, sample, {key, out, cost});
    case SampleForm::kCoefficients: break;
  }
  Status status = decode_coefficients(sample, {key, out, cost});
  if (status || sample.copy != CopyRole::kCopy) return status;
  const Result<EncodedSample> original = reader_->original();
  if (!original) return forward_error(original);
  cost.bytes += static_cast<std::int64_t>(original->bytes.size());
  return decode_file(*original, {key, out, cost});
}

Status SampleStages::decode_coefficients(const EncodedSample& sample, const Target& target) {
  SampleCost& cost = target.cost;
  PayloadOfSample payload(*reader_, inputs_.clock, cost);
  PayloadDecoder decoder(coefficients_, payload);
  const std::int64_t read_before_ns = cost.read_ns;
  const Status status = decode_with(decoder, sample.bytes, target);
  cost.decode_ns -= cost.read_ns - read_before_ns;
  return status;
}

/// A file that was cut is refused whatever its crop needs of it: else it would come to light in
/// some epoch or other.
Status SampleStages::decode_file(const EncodedSample& sample, const Target& target) {
  const Result<ImageFormat*> format = formats_.find(sample.bytes);
  if (!format) return forward_error(format);
  if (Status whole = (*format)->check_whole(sample.bytes); !whole) return whole;
  if (sample.copy == CopyRole::kWanted) return decode_and_keep(**format, sample.bytes, target);
  return decode_with_any(**format, sample.bytes, target);
}

/// The first decoder that takes it; the last one's word is the file's.
Status SampleStages::decode_with_any(ImageFormat& format, std::span<const std::byte> file,
                                     const Target& target) {
  Status status;
  for (ImageDecoder* const decoder : format.decoders()) {
    status = decode_with(*decoder, file, target);
    if (status) break;
  }
  return status;
}

/// Of most files one pass gives the pixels and what is kept. The others, progressive JPEGs among
/// them, are gone through twice, but only in their first epoch. Whether a file that is damaged
/// below the crop can be loaded must not depend on the cache.
Status SampleStages::decode_and_keep(ImageFormat& format, std::span<const std::byte> file,
                                     const Target& target) {
  ImageDecoder* const both = format.keeping_decoder(payload_);
  if (both != nullptr && decode_with(*both, file, target)) {
    keep_payload();
    return {};
  }
  if (Status status = decode_with_any(format, file, target); !status) return status;
  const std::int64_t begun_ns = inputs_.clock.now_ns();
  const Status encoded = format.encode(file, payload_);
  target.cost.decode_ns += inputs_.clock.now_ns() - begun_ns;
  if (encoded) {
    keep_payload();
  } else if (encoded.error().code == ErrorCode::kNotSupported) {
    reader_->refuse();
  }
  return {};
}

void SampleStages::keep_payload() {
  const Result<std::size_t> head = head_size(payload_);
  if (head) reader_->keep(payload_, static_cast<std::uint32_t>(*head));
}

template <class Decoder, class Encoded>
Status SampleStages::decode_with(Decoder& decoder, const Encoded& encoded, const Target& target) {
  const std::int64_t begun_ns = inputs_.clock.now_ns();
  const Result<ImageSize> size = decoder.open(encoded);
  if (!size) return forward_error(size);
  if (!fits(inputs_.options.transform.geometry, *size)) {
    return fail(ErrorCode::kNotSupported, "{} x {} pixels are fewer than the crop has", size->width,
                size->height);
  }
  SampleRandom random(target.key);
  const Box region = transform_->begin(*size, random, target.out);
  Status status = decoder.decode(region, transform_->sink());
  if (status) status = transform_->finish();
  target.cost.resize_ns += transform_->spent_ns();
  target.cost.decode_ns += inputs_.clock.now_ns() - begun_ns - transform_->spent_ns();
  return status;
}

}  // namespace unstarve::feed
