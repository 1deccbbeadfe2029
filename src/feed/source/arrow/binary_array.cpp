#include "feed/source/arrow/binary_array.h"

#include <cstring>
#include <string_view>

namespace unstarve::feed {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;  // so that no sum overflows
constexpr int kBitsInByte = 8;

constexpr std::int64_t kBinaryBuffers = 3;  // validity, offsets, bytes
constexpr int kOffsets = 1;
constexpr int kBytes = 2;

}  // namespace

bool is_valid(const ArrowArray& array, std::int64_t index) {
  const auto* bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  if (bits == nullptr || array.null_count == 0) return true;
  const std::int64_t place = array.offset + index;
  return (bits[place / kBitsInByte] >> (place % kBitsInByte) & 1) != 0;
}

Status check_array(const ArrowArray& array, std::int64_t buffers, std::int64_t end) {
  if (array.length < 0 || array.offset < 0 || array.length > kMostElements ||
      array.offset > kMostElements) {
    return fail(ErrorCode::kCorruptData, "an Arrow array of {} elements from {} on", array.length,
                array.offset);
  }
  if (array.length < end) {
    return fail(ErrorCode::kCorruptData, "an Arrow array has {} elements, its parent wants {}",
                array.length, end);
  }
  if (array.n_buffers != buffers || array.buffers == nullptr || array.dictionary != nullptr) {
    return fail(ErrorCode::kCorruptData, "an Arrow array has {} buffers in the place of {}",
                array.n_buffers, buffers);
  }
  return {};
}

std::optional<BinaryArray::Width> BinaryArray::width_of(const char* format) {
  const std::string_view type = format == nullptr ? "" : format;
  if (type == "z" || type == "u") return Width::k32;
  if (type == "Z" || type == "U") return Width::k64;
  return std::nullopt;
}

Result<BinaryArray> BinaryArray::open(const ArrowArray& array, Width width, std::int64_t end) {
  if (Status sound = check_array(array, kBinaryBuffers, end); !sound) return forward_error(sound);
  const BinaryArray made(array, width);
  // An array without elements may have no buffers.
  if (array.length == 0) return made;
  if (array.buffers[kOffsets] == nullptr) {
    return fail(ErrorCode::kCorruptData, "an Arrow array of bytes has no offsets");
  }
  const std::int64_t first = made.offset_at(0);
  const std::int64_t last = made.offset_at(array.length);
  if (first < 0 || last < first || (last > first && array.buffers[kBytes] == nullptr)) {
    return fail(ErrorCode::kCorruptData, "the bytes of an Arrow array lie from {} to {}", first,
                last);
  }
  return made;
}

Result<std::optional<std::span<const std::byte>>> BinaryArray::at(std::int64_t index) const {
  if (!is_valid(*array_, index)) return std::nullopt;
  const std::int64_t begin = offset_at(index);
  const std::int64_t end = offset_at(index + 1);
  if (begin < offset_at(0) || end < begin || end > offset_at(array_->length)) {
    return fail(ErrorCode::kCorruptData, "its bytes lie from {} to {}, those of its array to {}",
                begin, end, offset_at(array_->length));
  }
  if (begin == end) return std::span<const std::byte>();
  const auto* bytes = static_cast<const std::byte*>(array_->buffers[kBytes]);
  return std::span(bytes + begin, static_cast<std::size_t>(end - begin));
}

std::uint64_t BinaryArray::extent() const {
  if (array_->length == 0) return 0;
  return static_cast<std::uint64_t>(offset_at(array_->length) - offset_at(0));
}

/// A producer need not align its buffers.
std::int64_t BinaryArray::offset_at(std::int64_t index) const {
  const auto* offsets = static_cast<const std::byte*>(array_->buffers[kOffsets]);
  const std::int64_t place = array_->offset + index;
  if (width_ == Width::k64) {
    std::int64_t offset = 0;
    std::memcpy(&offset, offsets + place * std::int64_t{sizeof(offset)}, sizeof(offset));
    return offset;
  }
  std::int32_t offset = 0;
  std::memcpy(&offset, offsets + place * std::int64_t{sizeof(offset)}, sizeof(offset));
  return offset;
}

}  // namespace unstarve::feed
