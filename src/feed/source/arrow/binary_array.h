#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "feed/source/arrow/arrow_abi.h"

namespace unstarve::feed {

/// Whether element `index` of an array is there, `index` counted from the array's own offset on.
bool is_valid(const ArrowArray& array, std::int64_t index);

/// kCorruptData unless the array has lengths that make sense, `buffers` buffers and no dictionary,
/// and holds the elements up to `end`.
Status check_array(const ArrowArray& array, std::int64_t buffers, std::int64_t end);

/// An array of strings of bytes. It points into memory of the ArrowArray, which must outlive it.
///
/// The interface does not tell how long a buffer is. What the last offset says is taken for true;
/// all others must lie before it.
class BinaryArray {
 public:
  enum class Width { k32, k64 };  // of an offset: `binary` and `utf8`, or their large kinds
  /// nullopt: the format (of a schema) is of another type.
  static std::optional<Width> width_of(const char* format);

  /// Checks what can be checked without reading the offsets of each element: kCorruptData.
  static Result<BinaryArray> open(const ArrowArray& array, Width width, std::int64_t end);

  /// nullopt: it is null. kCorruptData where its offsets go back, or past the end. `index` is below
  /// the `end` of open().
  Result<std::optional<std::span<const std::byte>>> at(std::int64_t index) const;

  /// Bytes of all its elements.
  std::uint64_t extent() const;

 private:
  BinaryArray(const ArrowArray& array, Width width) : array_(&array), width_(width) {}
  std::int64_t offset_at(std::int64_t index) const;

  const ArrowArray* array_;
  Width width_;
};

}  // namespace unstarve::feed
