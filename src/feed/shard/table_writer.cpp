#include "feed/shard/table_writer.h"

#include <utility>

#include "base/io/write.h"
#include "feed/shard/record.h"

namespace unstarve::feed {
namespace {

/// One section of a table on its way to the file.
class Section {
 public:
  Section(io::Files& storage, int file, std::uint64_t offset)
      : storage_(storage), file_(file), offset_(offset) {}
  Status append(std::span<const std::byte> bytes) {
    sum_.add(bytes);
    const std::uint64_t at = std::exchange(offset_, offset_ + bytes.size());
    return io::write_all_at(storage_, file_, at, bytes);
  }
  std::uint64_t checksum() const { return sum_.value(); }

 private:
  io::Files& storage_;
  int file_;
  std::uint64_t offset_;
  ChecksumStream sum_;
};

template <class T>
void push(std::string& bytes, const T& value) {
  const auto from = bytes_of(value);
  bytes.append(static_cast<const char*>(static_cast<const void*>(from.data())), from.size());
}

std::string class_bytes(const std::vector<std::string>& classes) {
  std::string bytes;
  for (const std::string& name : classes) {
    push(bytes, static_cast<std::uint32_t>(name.size()));
    bytes.append(name);
  }
  return bytes;
}

std::string shard_bytes(const std::vector<ShardPlace>& shards) {
  std::string bytes;
  for (const ShardPlace& shard : shards) {
    ShardListing listing = shard.listing;
    listing.name_size = shard.name.size();
    push(bytes, listing);
    bytes.append(shard.name);
  }
  return bytes;
}

/// Sets what only the whole table knows of its entries.
void place_entries(TablePiece& piece, std::uint32_t shard, std::uint64_t names_before) {
  for (TableEntry& entry : piece.entries) {
    entry.shard = shard;
    entry.name_offset = names_before;
    names_before += entry.name_size;
    seal(entry);
  }
}

void count(TableHeader& header, const TablePiece& piece) {
  for (const TableEntry& entry : piece.entries) {
    ++header.samples_of_kind[entry.kind];
    header.payload_size += entry.size;
    header.source_size += entry.source_size;
  }
}

std::vector<std::int32_t> labels_of(const TablePiece& piece) {
  std::vector<std::int32_t> labels;
  labels.reserve(piece.entries.size());
  for (const TableEntry& entry : piece.entries) labels.push_back(entry.label);
  return labels;
}

/// Writes entries, labels and names, and sets what the header says of them.
Status write_pieces(io::Files& storage, int file, std::uint64_t offset, const TablePlan& plan,
                    TableHeader& header) {
  const TableLayout layout = layout_of(header);
  Section entries(storage, file, offset + layout.entries);
  Section labels(storage, file, offset + layout.labels);
  Section names(storage, file, offset + layout.names);
  std::uint64_t names_before = 0;
  for (std::size_t number = 0; number < plan.shards.size(); ++number) {
    Result<TablePiece> piece = plan.piece(number);
    if (!piece) return forward_error(piece);
    place_entries(*piece, static_cast<std::uint32_t>(number), names_before);
    names_before += piece->names.size();
    count(header, *piece);
    Status status = entries.append(std::as_bytes(std::span(piece->entries)));
    if (status && plan.has_labels) {
      const std::vector<std::int32_t> values = labels_of(*piece);
      status = labels.append(std::as_bytes(std::span(values)));
    }
    if (status) status = names.append(bytes_of_text(piece->names));
    if (!status) return status;
  }
  header.entries_checksum = entries.checksum();
  header.labels_checksum = labels.checksum();
  header.names_checksum = names.checksum();
  return {};
}

}  // namespace

Status write_table(io::Files& storage, int file, std::uint64_t offset, const TablePlan& plan) {
  const std::string classes = class_bytes(plan.classes);
  const std::string shards = shard_bytes(plan.shards);
  TableHeader header;
  header.set_id = plan.set_id;
  header.classes = static_cast<std::uint32_t>(plan.classes.size());
  header.shards = plan.shards.size();
  for (const ShardPlace& shard : plan.shards) header.samples += shard.listing.samples;
  header.labels_size = plan.has_labels ? header.samples * sizeof(std::int32_t) : 0;
  header.names_size = plan.names_size;
  header.classes_size = classes.size();
  header.shards_size = shards.size();
  header.classes_checksum = checksum_of(bytes_of_text(classes));
  header.shards_checksum = checksum_of(bytes_of_text(shards));
  const TableLayout layout = layout_of(header);

  if (Status status = write_pieces(storage, file, offset, plan, header); !status) return status;
  seal(header);
  Trailer trailer;
  trailer.table_offset = offset;
  trailer.table_size = layout.end;
  trailer.file_size = offset + layout.end + sizeof(Trailer);
  seal(trailer);
  Status status = io::write_all_at(storage, file, offset + layout.classes, bytes_of_text(classes));
  if (status)
    status = io::write_all_at(storage, file, offset + layout.shards, bytes_of_text(shards));
  if (status) status = io::write_all_at(storage, file, offset, bytes_of(header));
  // Before the trailer says that the table is there, it is.
  if (status) status = storage.sync(file);
  if (status) status = io::write_all_at(storage, file, offset + layout.end, bytes_of(trailer));
  if (status) status = storage.sync(file);
  return status;
}

}  // namespace unstarve::feed
