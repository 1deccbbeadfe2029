#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "feed/source/arrow/arrow_abi.h"

namespace unstarve::feed::test {

/// One array of a made chunk, with what a test says of it, true or not. Buffers are as long as the
/// interface demands of a producer: `offset + length` elements.
struct MadeArray {
  std::int64_t length = 0;
  std::int64_t offset = 0;
  std::int64_t null_count = -1;
  std::optional<std::vector<std::uint8_t>> validity = {};  // bits, the first the lowest
  std::vector<std::int64_t> offsets = {};                  // of bytes; a struct has none
  std::string bytes = {};
  bool is_large = false;
};

/// A table of one column, a struct of `bytes` and `path`.
struct MadeChunk {
  MadeArray table = {};
  MadeArray column = {};
  MadeArray bytes = {};
  MadeArray path = {};
};

/// Gives them, once. It must outlive the stream.
class MadeStream {
 public:
  explicit MadeStream(std::vector<MadeChunk> chunks) : chunks_(std::move(chunks)) {
    stream.get_schema = [](ArrowArrayStream* asked, ArrowSchema* out) {
      return self(asked).give_schema(*out);
    };
    stream.get_next = [](ArrowArrayStream* asked, ArrowArray* out) {
      return self(asked).give_next(*out);
    };
    stream.get_last_error = [](ArrowArrayStream*) -> const char* { return "the disk is full"; };
    stream.release = [](ArrowArrayStream* asked) { asked->release = nullptr; };
    stream.private_data = this;
  }
  MadeStream(const MadeStream&) = delete;
  MadeStream& operator=(const MadeStream&) = delete;

  ArrowArrayStream stream = {};
  std::string format = "z";   // of the bytes
  std::string column = "+s";  // of the column
  int fails_at = -1;          // the chunk whose place an error takes
  /// Arrays that were given and not released; these may outlive the stream.
  std::shared_ptr<int> alive = std::make_shared<int>(0);

 private:
  /// What an array's structs point to, until it is released.
  struct Kept {
    std::shared_ptr<int> alive;
    std::vector<std::unique_ptr<std::byte[]>> memory;
    std::vector<std::unique_ptr<ArrowArray>> arrays;
    std::vector<std::unique_ptr<std::vector<const void*>>> buffers;
    std::vector<std::unique_ptr<std::vector<ArrowArray*>>> children;
  };

  static MadeStream& self(ArrowArrayStream* stream) {
    return *static_cast<MadeStream*>(stream->private_data);
  }

  int give_schema(ArrowSchema& out) {
    const auto leaf = [](const char* name, const char* type) {
      ArrowSchema schema = {};
      schema.name = name;
      schema.format = type;
      return schema;
    };
    fields_ = {leaf("bytes", format.c_str()), leaf("path", format == "Z" ? "U" : "u")};
    field_list_ = {&fields_[0], &fields_[1]};
    column_ = leaf("image", column.c_str());
    column_.n_children = 2;
    column_.children = field_list_.data();
    column_list_ = {&column_};
    out = leaf("", "+s");
    out.n_children = 1;
    out.children = column_list_.data();
    out.release = [](ArrowSchema* schema) { schema->release = nullptr; };
    return 0;
  }

  int give_next(ArrowArray& out) {
    out = {};
    if (static_cast<int>(given_) == fails_at) return 5;
    if (given_ == chunks_.size()) return 0;
    const MadeChunk& chunk = chunks_[given_++];
    auto kept = std::make_unique<Kept>();
    kept->alive = alive;
    ArrowArray* const bytes = binary(*kept, chunk.bytes);
    ArrowArray* const path = binary(*kept, chunk.path);
    ArrowArray* const column_array = parent(*kept, chunk.column, {bytes, path});
    out = *parent(*kept, chunk.table, {column_array});
    out.private_data = kept.release();
    out.release = [](ArrowArray* array) {
      const std::unique_ptr<Kept> last(static_cast<Kept*>(array->private_data));
      --*last->alive;
      array->release = nullptr;
    };
    ++*alive;
    return 0;
  }

  static const void* keep(Kept& kept, const void* bytes, std::size_t size, std::size_t room) {
    kept.memory.push_back(std::make_unique<std::byte[]>(room));
    if (size != 0) std::memcpy(kept.memory.back().get(), bytes, std::min(size, room));
    return kept.memory.back().get();
  }

  static ArrowArray* array(Kept& kept, const MadeArray& made, std::vector<const void*> buffers) {
    kept.buffers.push_back(std::make_unique<std::vector<const void*>>(std::move(buffers)));
    auto array = std::make_unique<ArrowArray>();
    array->length = made.length;
    array->offset = made.offset;
    array->null_count = made.null_count;
    array->n_buffers = static_cast<std::int64_t>(kept.buffers.back()->size());
    array->buffers = kept.buffers.back()->data();
    kept.arrays.push_back(std::move(array));
    return kept.arrays.back().get();
  }

  /// Some tests lie about both.
  static std::int64_t elements_of(const MadeArray& made) {
    return std::max<std::int64_t>(0, made.length) + std::max<std::int64_t>(0, made.offset);
  }

  static const void* bits(Kept& kept, const MadeArray& made) {
    if (!made.validity) return nullptr;
    const auto room = static_cast<std::size_t>(elements_of(made) + 7) / 8;
    return keep(kept, made.validity->data(), made.validity->size(), room);
  }

  static ArrowArray* binary(Kept& kept, const MadeArray& made) {
    std::string offsets;
    for (const std::int64_t offset : made.offsets) {  // little-endian: the lower half is first
      offsets.append(reinterpret_cast<const char*>(&offset), made.is_large ? sizeof(offset) : 4);
    }
    const auto elements = static_cast<std::size_t>(elements_of(made) + 1);
    const void* places = keep(kept, offsets.data(), offsets.size(),
                              elements * (made.is_large ? sizeof(std::int64_t) : 4));
    const void* bytes = keep(kept, made.bytes.data(), made.bytes.size(), made.bytes.size());
    return array(kept, made, {bits(kept, made), places, bytes});
  }

  static ArrowArray* parent(Kept& kept, const MadeArray& made, std::vector<ArrowArray*> children) {
    ArrowArray* const made_array = array(kept, made, {bits(kept, made)});
    kept.children.push_back(std::make_unique<std::vector<ArrowArray*>>(std::move(children)));
    made_array->n_children = static_cast<std::int64_t>(kept.children.back()->size());
    made_array->children = kept.children.back()->data();
    return made_array;
  }

  std::vector<MadeChunk> chunks_;
  std::size_t given_ = 0;
  std::vector<ArrowSchema> fields_;
  std::vector<ArrowSchema*> field_list_;
  ArrowSchema column_ = {};
  std::vector<ArrowSchema*> column_list_;
};

/// Rows of bytes as one array; nullopt is null.
inline MadeArray made_bytes(const std::vector<std::optional<std::string>>& rows) {
  MadeArray array;
  array.length = static_cast<std::int64_t>(rows.size());
  array.offsets = {0};
  array.validity.emplace(rows.size() / 8 + 1, std::uint8_t{0});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]) {
      array.bytes += *rows[i];
      (*array.validity)[i / 8] |= static_cast<std::uint8_t>(1 << i % 8);
    }
    array.offsets.push_back(static_cast<std::int64_t>(array.bytes.size()));
  }
  return array;
}

/// A chunk of rows that are all there, with their bytes and paths.
inline MadeChunk made_chunk(const std::vector<std::optional<std::string>>& bytes,
                            const std::vector<std::optional<std::string>>& paths) {
  MadeChunk chunk;
  chunk.table.length = chunk.column.length = static_cast<std::int64_t>(bytes.size());
  chunk.bytes = made_bytes(bytes);
  chunk.path = made_bytes(paths);
  return chunk;
}

}  // namespace unstarve::feed::test
