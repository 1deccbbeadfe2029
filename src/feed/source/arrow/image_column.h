#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "feed/source/arrow/arrow_owned.h"
#include "feed/source/arrow/binary_array.h"

namespace unstarve::feed {

/// A column of images as Hugging Face's `datasets` keeps them: a struct of the file's `bytes` and
/// its `path`, one of which may be null. Bytes are not copied: they stay where the producer has
/// them, in a mapped file for instance, which must not be cut short meanwhile.
/// Thread rule: any thread.
class ImageColumn {
 public:
  struct Row {
    std::optional<std::span<const std::byte>> bytes = {};
    std::optional<std::string_view> path = {};  // both null: there is no image
  };

  /// Reads the stream of a table with this one column to its end, and keeps all that it gives.
  /// kNotSupported: the column is of another type. kCorruptData: its arrays do not fit together.
  /// kIo: what the producer says.
  static Result<ImageColumn> open(ArrowArrayStream& stream);

  std::uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  /// kCorruptData where the row's offsets make no sense.
  Result<Row> at(std::uint64_t row) const;
  /// Of the sizes of its parts.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  /// What the schema says: where in the struct its fields are.
  struct Fields {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    BinaryArray::Width bytes_width = BinaryArray::Width::k32;
    std::optional<std::int64_t> path;
    BinaryArray::Width path_width = BinaryArray::Width::k32;
  };
  struct Chunk {
    ArrowOwned<ArrowArray> table;
    BinaryArray bytes;
    std::optional<BinaryArray> path;
  };

  ImageColumn() = default;
  static Result<Fields> read_schema(ArrowArrayStream& stream);
  Status add(ArrowOwned<ArrowArray> table, const Fields& fields);

  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> ends_;  // rows up to the end of each
  std::uint64_t fingerprint_ = 0;
};

}  // namespace unstarve::feed
