#include "feed/source/arrow/image_column.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace unstarve::feed {

namespace {

constexpr std::string_view kStruct = "+s";
constexpr std::int64_t kStructBuffers = 1;  // validity
constexpr std::int64_t kFieldsMax = 64;     // of a struct; two are read

std::string_view text(const char* given) { return given == nullptr ? "" : given; }

/// Of a schema or an array.
template <class Struct>
bool has_children(const Struct& parent, std::int64_t count) {
  return parent.n_children == count && parent.children != nullptr &&
         std::none_of(parent.children, parent.children + count,
                      [](const Struct* child) { return child == nullptr; });
}

bool is_struct(const ArrowSchema& schema) {
  return text(schema.format) == kStruct && schema.dictionary == nullptr && schema.n_children > 0 &&
         schema.n_children <= kFieldsMax && has_children(schema, schema.n_children);
}

tl::unexpected<Error> failed_in(ArrowArrayStream& stream, int code) {
  return fail(ErrorCode::kIo, "the column's producer failed with {}: {}", code,
              text(stream.get_last_error(&stream)));
}

Status check_struct(const ArrowArray& array, std::int64_t fields, std::int64_t end) {
  if (Status sound = check_array(array, kStructBuffers, end); !sound) return sound;
  if (!has_children(array, fields)) {
    return fail(ErrorCode::kCorruptData, "an Arrow struct has {} fields in the place of {}",
                array.n_children, fields);
  }
  return {};
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<ImageColumn> ImageColumn::open(ArrowArrayStream& stream) {
  const Result<Fields> fields = read_schema(stream);
  if (!fields) return forward_error(fields);
  ImageColumn column;
  for (;;) {
    ArrowOwned<ArrowArray> table;
    if (const int code = stream.get_next(&stream, table.get()); code != 0) {
      return failed_in(stream, code);
    }
    if (!table) return column;
    if (Status added = column.add(std::move(table), *fields); !added) return forward_error(added);
  }
}

Result<ImageColumn::Fields> ImageColumn::read_schema(ArrowArrayStream& stream) {
  ArrowOwned<ArrowSchema> table;
  if (const int code = stream.get_schema(&stream, table.get()); code != 0) {
    return failed_in(stream, code);
  }
  if (!is_struct(*table) || table->n_children != 1 || !is_struct(*table->children[0])) {
    return fail(ErrorCode::kNotSupported, "it is no table with one column, a struct");
  }
  const ArrowSchema& column = *table->children[0];
  Fields fields;
  fields.count = column.n_children;
  std::optional<std::int64_t> bytes;
  for (std::int64_t i = 0; i < column.n_children; ++i) {
    const ArrowSchema& field = *column.children[i];
    const std::optional<BinaryArray::Width> width = BinaryArray::width_of(field.format);
    if (!width || field.dictionary != nullptr) continue;
    if (text(field.name) == "bytes") {
      bytes = i;
      fields.bytes_width = *width;
    } else if (text(field.name) == "path") {
      fields.path = i;
      fields.path_width = *width;
    }
  }
  if (!bytes) return fail(ErrorCode::kNotSupported, "its struct has no `bytes` of type binary");
  fields.bytes = *bytes;
  return fields;
}

Status ImageColumn::add(ArrowOwned<ArrowArray> table, const Fields& fields) {
  if (Status sound = check_struct(*table, 1, 0); !sound) return sound;
  if (table->length == 0) return {};
  // Whatever a child has, it is counted from its parent's offset on.
  const std::int64_t end = table->offset + table->length;
  const ArrowArray& column = *table->children[0];
  if (Status sound = check_struct(column, fields.count, end); !sound) return sound;
  const std::int64_t deep_end = column.offset + end;
  const Result<BinaryArray> bytes =
      BinaryArray::open(*column.children[fields.bytes], fields.bytes_width, deep_end);
  if (!bytes) return forward_error(bytes);
  std::optional<BinaryArray> path;
  if (fields.path) {
    const Result<BinaryArray> opened =
        BinaryArray::open(*column.children[*fields.path], fields.path_width, deep_end);
    if (!opened) return forward_error(opened);
    path = *opened;
  }
  const auto rows = static_cast<std::uint64_t>(table->length);
  const std::array<std::uint64_t, 2> sizes = {rows, bytes->extent()};
  fingerprint_ = XXH3_64bits_withSeed(sizes.data(), sizeof(sizes), fingerprint_);
  ends_.push_back(size() + rows);
  chunks_.push_back({std::move(table), *bytes, path});
  return {};
}

Result<ImageColumn::Row> ImageColumn::at(std::uint64_t row) const {
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), row);
  if (end == ends_.end()) {
    return fail(ErrorCode::kInvalidArgument, "row {} of {}", row, size());
  }
  const Chunk& chunk = chunks_[static_cast<std::size_t>(end - ends_.begin())];
  const std::uint64_t begin = *end - static_cast<std::uint64_t>(chunk.table->length);
  const ArrowArray& column = *chunk.table->children[0];
  const auto in_table = static_cast<std::int64_t>(row - begin);
  const std::int64_t in_column = chunk.table->offset + in_table;
  if (!is_valid(*chunk.table, in_table) || !is_valid(column, in_column)) return Row{};
  const std::int64_t in_fields = column.offset + in_column;
  const auto bytes = chunk.bytes.at(in_fields);
  if (!bytes) return forward_error(bytes);
  Row found{*bytes, std::nullopt};
  if (!chunk.path) return found;
  const auto path = chunk.path->at(in_fields);
  if (!path) return forward_error(path);
  if (*path) found.path = as_text(**path);
  return found;
}

}  // namespace unstarve::feed
