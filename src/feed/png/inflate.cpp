#include "feed/png/inflate.h"

#include <libdeflate.h>

#include "feed/data/decode_errors.h"
namespace unstarve::feed {

void Inflater::Free::operator()(libdeflate_decompressor* decompressor) const {
  libdeflate_free_decompressor(decompressor);
}

Status Inflater::inflate(std::span<const std::byte> stream, std::span<std::byte> out) {
  if (!decompressor_) decompressor_.reset(libdeflate_alloc_decompressor());
  if (!decompressor_) return fail(ErrorCode::kOutOfMemory, "no memory to unpack an image");
  const libdeflate_result result = libdeflate_zlib_decompress(
      decompressor_.get(), stream.data(), stream.size(), out.data(), out.size(), nullptr);
  switch (result) {
    case LIBDEFLATE_SUCCESS: return {};
    case LIBDEFLATE_SHORT_OUTPUT: return cut_short();
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      return fail(ErrorCode::kCorruptData, "a file that holds more than its image");
    case LIBDEFLATE_BAD_DATA: break;
  }
  return fail(ErrorCode::kCorruptData, "an image whose packed pixels are damaged");
}

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  return libdeflate_crc32(0, bytes.data(), bytes.size());
}

}  // namespace unstarve::feed
