#include "feed/shard/sample_table.h"

#include <algorithm>

#include "base/io/read.h"
#include "feed/shard/record.h"

namespace unstarve::feed {
namespace {

// Far above any data set, far below where sums of sizes overflow.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 56;
constexpr std::size_t kVerifyBytes = std::size_t{1} << 20;

tl::unexpected<Error> damaged(std::string_view part) {
  return fail(ErrorCode::kCorruptData, "the {} is damaged: pack the data set again", part);
}

/// The sizes in a header whose seal holds, against the bytes that the table has.
bool is_plausible(const TableHeader& header, std::uint64_t table_size) {
  const std::uint64_t sizes[] = {header.labels_size, header.names_size, header.classes_size,
                                 header.shards_size};
  if (table_size > kMaxBytes || header.samples > table_size / sizeof(TableEntry)) return false;
  if (std::any_of(std::begin(sizes), std::end(sizes),
                  [&](std::uint64_t size) { return size > table_size; })) {
    return false;
  }
  if (header.labels_size != 0 && header.labels_size != header.samples * sizeof(std::int32_t)) {
    return false;
  }
  return layout_of(header).end == table_size &&
         header.shards <= header.shards_size / sizeof(ShardListing) &&
         header.classes <= header.classes_size / sizeof(std::uint32_t);
}

/// Takes texts and structures from the front of a section.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class T>
  bool take(T& value) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return true;
  }
  bool take(std::string& text, std::uint64_t size) {
    if (size > rest_.size() || size > kMaxNameBytes) return false;
    text.assign(static_cast<const char*>(static_cast<const void*>(rest_.data())), size);
    rest_ = rest_.subspan(size);
    return true;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace

TableLayout layout_of(const TableHeader& header) {
  TableLayout layout;
  layout.entries = sizeof(TableHeader);
  layout.labels = align_up(layout.entries + header.samples * sizeof(TableEntry));
  layout.names = align_up(layout.labels + header.labels_size);
  layout.classes = align_up(layout.names + header.names_size);
  layout.shards = align_up(layout.classes + header.classes_size);
  layout.end = align_up(layout.shards + header.shards_size);
  return layout;
}

Result<SampleTable> SampleTable::open(std::shared_ptr<io::Files> storage,
                                      std::shared_ptr<const FileDescriptor> file) {
  const Result<std::uint64_t> size = io::size_of(*storage, file->get());
  if (!size) return forward_error(size);
  Trailer trailer;
  if (*size < sizeof(Trailer)) return fail(ErrorCode::kNotFound, "the file is not finished");
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&trailer, 1));
  if (Status status = io::read_exactly(*storage, file->get(), *size - sizeof(Trailer), bytes);
      !status) {
    return forward_error(status);
  }
  if (trailer.magic != kTrailerMagic) {
    return fail(ErrorCode::kNotFound, "the file is not finished, or cut off");
  }
  if (!is_sealed(trailer) || trailer.file_size != *size) return damaged("trailer");
  SampleTable table(std::move(storage), std::move(file));
  if (Status status = table.open_sections(trailer); !status) return forward_error(status);
  return table;
}

Status SampleTable::open_sections(const Trailer& trailer) {
  if (trailer.version != kShardVersion) {
    return fail(ErrorCode::kNotSupported,
                "the shards have format version {}, this program reads {}", trailer.version,
                kShardVersion);
  }
  const std::uint64_t room = trailer.file_size - sizeof(Trailer);
  if (trailer.table_size < sizeof(TableHeader) || trailer.table_size > room ||
      trailer.table_offset != room - trailer.table_size) {
    return damaged("trailer");
  }
  offset_ = trailer.table_offset;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&header_, 1));
  if (Status status = io::read_exactly(*storage_, file_->get(), offset_, bytes); !status)
    return status;
  if (header_.magic != kTableMagic || !is_sealed(header_) ||
      !is_plausible(header_, trailer.table_size)) {
    return damaged("table");
  }
  layout_ = layout_of(header_);
  if (Status status = read_classes(); !status) return status;
  if (Status status = read_labels(); !status) return status;
  return read_shards();
}

Result<std::vector<std::byte>> SampleTable::read_section(std::uint64_t offset, std::uint64_t size,
                                                         std::uint64_t checksum) const {
  std::vector<std::byte> bytes(size);
  if (Status status = io::read_exactly(*storage_, file_->get(), offset_ + offset, bytes); !status) {
    return forward_error(status);
  }
  if (checksum_of(bytes) != checksum) return damaged("table");
  return bytes;
}

Status SampleTable::read_labels() {
  labels_.resize(header_.labels_size / sizeof(std::int32_t));
  const auto bytes = std::as_writable_bytes(std::span(labels_));
  if (Status status = io::read_exactly(*storage_, file_->get(), offset_ + layout_.labels, bytes);
      !status) {
    return status;
  }
  if (checksum_of(bytes) != header_.labels_checksum) return damaged("table");
  const auto count = static_cast<std::int64_t>(classes_.size());
  const bool known = count == 0 || std::all_of(labels_.begin(), labels_.end(), [&](auto label) {
                       return label >= 0 && label < count;
                     });
  return known ? Status() : Status(damaged("table"));
}

Status SampleTable::read_classes() {
  const auto bytes = read_section(layout_.classes, header_.classes_size, header_.classes_checksum);
  if (!bytes) return forward_error(bytes);
  Cursor cursor(*bytes);
  classes_.resize(header_.classes);
  for (std::string& name : classes_) {
    std::uint32_t size = 0;
    if (!cursor.take(size) || !cursor.take(name, size)) return damaged("table");
  }
  return cursor.at_end() ? Status() : Status(damaged("table"));
}

Status SampleTable::read_shards() {
  const auto bytes = read_section(layout_.shards, header_.shards_size, header_.shards_checksum);
  if (!bytes) return forward_error(bytes);
  Cursor cursor(*bytes);
  shards_.resize(header_.shards);
  std::uint64_t samples = 0;
  for (ShardPlace& shard : shards_) {
    if (!cursor.take(shard.listing) || !cursor.take(shard.name, shard.listing.name_size) ||
        shard.listing.first_sample != samples || shard.listing.records_end > kMaxBytes ||
        shard.listing.samples > header_.samples - samples ||
        shard.name.find('/') != std::string::npos) {
      return damaged("table");
    }
    samples += shard.listing.samples;
  }
  return cursor.at_end() && samples == header_.samples ? Status() : Status(damaged("table"));
}

Result<TablePiece> SampleTable::piece() const {
  if (scanned_) return *scanned_;
  TablePiece piece;
  piece.entries.resize(header_.samples);
  const auto entries = std::as_writable_bytes(std::span(piece.entries));
  piece.names.resize(header_.names_size);
  const auto names = std::as_writable_bytes(std::span(piece.names));
  Status status = io::read_exactly(*storage_, file_->get(), offset_ + layout_.entries, entries);
  if (status) status = io::read_exactly(*storage_, file_->get(), offset_ + layout_.names, names);
  if (!status) return forward_error(status);
  if (checksum_of(entries) != header_.entries_checksum ||
      checksum_of(names) != header_.names_checksum) {
    return damaged("table");
  }
  return piece;
}

Result<TableEntry> SampleTable::entry(std::uint64_t index) const {
  if (index >= size()) {
    return fail(ErrorCode::kInvalidArgument, "there is no sample {}, only {}", index, size());
  }
  if (scanned_) return scanned_->entries[index];
  TableEntry entry;
  const std::uint64_t offset = offset_ + layout_.entries + index * sizeof(TableEntry);
  const auto bytes = std::as_writable_bytes(std::span(&entry, 1));
  if (Status status = io::read_exactly(*storage_, file_->get(), offset, bytes); !status) {
    return forward_error(status);
  }
  if (!is_sealed(entry)) return damaged("table");
  const bool in_shard = entry.shard < shards_.size();
  const std::uint64_t end = in_shard ? shards_[entry.shard].listing.records_end : 0;
  const std::uint64_t start = entry.offset + entry.payload_start;
  if (!in_shard || entry.kind >= kPayloadKinds || entry.label != label(index) ||
      entry.head_size > entry.size || entry.offset > kMaxBytes || entry.size > kMaxBytes ||
      entry.payload_start < sizeof(RecordHeader) || start + entry.size > end) {
    return damaged("table");
  }
  return entry;
}

Result<std::string> SampleTable::name(const TableEntry& entry) const {
  if (scanned_) return scanned_->names.substr(entry.name_offset, entry.name_size);
  if (entry.name_offset > header_.names_size ||
      entry.name_size > header_.names_size - entry.name_offset) {
    return damaged("table");
  }
  std::string name(entry.name_size, '\0');
  const auto bytes = std::as_writable_bytes(std::span(name));
  const std::uint64_t offset = offset_ + layout_.names + entry.name_offset;
  if (Status status = io::read_exactly(*storage_, file_->get(), offset, bytes); !status) {
    return forward_error(status);
  }
  if (static_cast<std::uint32_t>(checksum_of(bytes)) != entry.name_checksum) {
    return damaged("table");
  }
  return name;
}

Status SampleTable::verify_section(std::uint64_t offset, std::uint64_t size,
                                   std::uint64_t checksum) const {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(size, kVerifyBytes));
  ChecksumStream sum;
  for (std::uint64_t done = 0; done < size;) {
    const auto piece = std::span(buffer).first(std::min<std::uint64_t>(size - done, kVerifyBytes));
    if (Status status = io::read_exactly(*storage_, file_->get(), offset_ + offset + done, piece);
        !status) {
      return status;
    }
    sum.add(piece);
    done += piece.size();
  }
  return sum.value() == checksum ? Status() : Status(damaged("table"));
}

Status SampleTable::verify() const {
  if (scanned_) return {};
  const TableHeader& header = header_;
  if (Status status = verify_section(layout_.entries, header.samples * sizeof(TableEntry),
                                     header.entries_checksum);
      !status) {
    return status;
  }
  if (Status status = verify_section(layout_.names, header.names_size, header.names_checksum);
      !status) {
    return status;
  }
  for (std::uint64_t index = 0; index < size(); ++index) {
    const Result<TableEntry> checked = entry(index);
    if (!checked) return forward_error(checked);
  }
  return {};
}

Result<SampleTable> SampleTable::scan(std::shared_ptr<io::Files> storage,
                                      std::shared_ptr<const FileDescriptor> file) {
  SampleTable table(std::move(storage), std::move(file));
  TablePiece piece;
  TableHeader& header = table.header_;
  const Result<std::uint64_t> end = scan_records(
      *table.storage_, table.file_->get(), [&](std::uint64_t offset, const RecordView& record) {
        TableEntry entry = entry_of(record.header, offset, record.name);
        entry.name_offset = piece.names.size();
        seal(entry);
        piece.entries.push_back(entry);
        piece.names.append(record.name);
        table.labels_.push_back(entry.label);
        header.payload_size += entry.size;
        header.source_size += entry.source_size;
        ++header.samples_of_kind[entry.kind];
        return Status();
      });
  if (!end) return forward_error(end);
  table.offset_ = *end;
  header.samples = piece.entries.size();
  header.shards = 1;
  header.entries_checksum = checksum_of(std::as_bytes(std::span(piece.entries)));
  seal(header);
  ShardPlace place;
  place.listing.samples = header.samples;
  place.listing.records_end = *end;
  table.shards_.push_back(place);
  table.scanned_ = std::move(piece);
  return table;
}

}  // namespace unstarve::feed
