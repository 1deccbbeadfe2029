#include "feed/pack/sample_packer.h"

#include <utility>

#include "feed/jpeg/payload/payload.h"

namespace unstarve::feed {

SamplePacker::SamplePacker(PackInput& input, const Options& options, CoefficientEncoder encoder,
                           CoefficientCheck check)
    : input_(&input), options_(options), encoder_(std::move(encoder)), check_(std::move(check)) {}

Result<SamplePacker> SamplePacker::create(PackInput& input, const Options& options) {
  Result<CoefficientEncoder> encoder = CoefficientEncoder::create({});
  if (!encoder) return forward_error(encoder);
  Result<CoefficientCheck> check = CoefficientCheck::create();
  if (!check) return forward_error(check);
  return SamplePacker(input, options, std::move(*encoder), std::move(*check));
}

void SamplePacker::pack(std::uint64_t index, PackedSample& packed) {
  packed.error.reset();
  try {
    if (Status status = pack_file(index, packed); !status) packed.error = status.error();
  } catch (...) {
    packed.error = caught_error();
  }
}

Status SamplePacker::pack_file(std::uint64_t index, PackedSample& packed) {
  const auto file = input_->read(index, packed.original);
  if (!file) return forward_error(file);
  packed.sample = {};
  packed.sample.index = index;
  packed.sample.name = input_->name(index);
  packed.sample.label = input_->label(index);
  packed.sample.source_size = file->size();
  if (Status status = encode(*file, packed); !status) {
    Error error = status.error();
    error.message = fmt::format("{}: {}", packed.sample.name, error.message);
    return tl::unexpected<Error>(std::move(error));
  }
  if (!packed.kept_as_bytes.empty()) {
    packed.sample.kind = PayloadKind::kBytes;
    packed.sample.payload = *file;
    return {};
  }
  packed.sample.kind = PayloadKind::kCoefficients;
  packed.sample.payload = packed.payload;
  packed.sample.keep_original = options_.keep_original_bytes;
  if (options_.keep_original_bytes) packed.sample.original = *file;
  return {};
}

Status SamplePacker::encode(std::span<const std::byte> file, PackedSample& packed) {
  packed.kept_as_bytes.clear();
  packed.cannot_be_decoded = false;
  const bool is_jpeg = file.size() > 3 && file[0] == std::byte{0xFF} && file[1] == std::byte{0xD8};
  if (!is_jpeg) {
    packed.kept_as_bytes = "not a JPEG";
    return {};
  }
  const Status encoded = encoder_.encode(file, packed.payload);
  if (!encoded) {
    if (encoded.error().code != ErrorCode::kNotSupported) return encoded;
    packed.kept_as_bytes = encoded.error().message;
    packed.cannot_be_decoded = packed.kept_as_bytes.find("12 bits per sample") != std::string::npos;
    return {};
  }
  if (Status status = check_.compare(file, packed.payload); !status) return status;
  const auto size = head_size(packed.payload);
  if (!size) return forward_error(size);
  packed.sample.head_size = static_cast<std::uint32_t>(*size);
  return {};
}

}  // namespace unstarve::feed
