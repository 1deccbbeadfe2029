#include "feed/shard/shard_source.h"

#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "base/io/read.h"
#include "feed/data/read_hint.h"
#include "feed/data/room_in.h"
#include "feed/shard/shard_set_writer.h"
#include "feed/shard/shard_writer.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;

SampleForm form_of(std::uint8_t kind) {
  switch (static_cast<PayloadKind>(kind)) {
    case PayloadKind::kCoefficients: return SampleForm::kCoefficients;
    case PayloadKind::kTensor:
    case PayloadKind::kTokens: return SampleForm::kTensor;
    case PayloadKind::kBytes: break;
  }
  return SampleForm::kFile;
}

class ShardSampleReader final : public SampleReader {
 public:
  ShardSampleReader(io::Files& storage, const SampleTable& table, OpenShards& shards,
                    std::uint64_t first_sample)
      : storage_(storage), table_(table), shards_(shards), first_sample_(first_sample) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    const Result<TableEntry> entry = table_.entry(index);
    if (!entry) return forward_error(entry);
    auto file = shards_.open(entry->shard);
    if (!file) return forward_error(file);
    file_ = std::move(*file);
    entry_ = *entry;
    if (form_of(entry_.kind) == SampleForm::kCoefficients) return read_head(index);
    return read_payload(index);
  }

  ReadHint hint(std::uint64_t index) override {
    const Result<TableEntry> entry = table_.entry(index);
    if (!entry) return ReadHint::kFetching;  // read() will say what is wrong
    const auto file = shards_.open(entry->shard);
    if (!file) return ReadHint::kFetching;
    return hint_range(storage_, (*file)->get(), entry->offset, entry->payload_start + entry->size);
  }

  Result<std::span<const std::byte>> read_part(std::uint64_t offset, std::size_t size,
                                               std::vector<std::byte>& buffer) override {
    if (offset > entry_.size || size > entry_.size - offset) {
      return fail(ErrorCode::kCorruptData, "the sample ends before its parts do");
    }
    const std::uint64_t from = entry_.offset + entry_.payload_start + offset;
    const std::span<std::byte> bytes = room_in(buffer, size);
    if (Status status = io::read_exactly(storage_, file_->get(), from, bytes); !status) {
      return forward_error(status);
    }
    return std::span<const std::byte>(bytes);
  }

 private:
  Result<EncodedSample> read_head(std::uint64_t index) {
    const std::span<std::byte> bytes = room_in(buffer_, entry_.payload_start + entry_.head_size);
    if (Status status = io::read_exactly(storage_, file_->get(), entry_.offset, bytes); !status) {
      return forward_error(status);
    }
    const auto head = parse_record_head(bytes, entry_, first_sample_ + index);
    if (!head) return forward_error(head);
    return EncodedSample{SampleForm::kCoefficients, *head};
  }

  Result<EncodedSample> read_payload(std::uint64_t index) {
    const std::span<std::byte> bytes = room_in(buffer_, entry_.payload_start + entry_.size);
    if (Status status = io::read_exactly(storage_, file_->get(), entry_.offset, bytes); !status) {
      return forward_error(status);
    }
    const Result<RecordView> record = parse_record(bytes);
    if (!record) return forward_error(record);
    if (Status status = check_record(record->header, entry_, first_sample_ + index); !status) {
      return forward_error(status);
    }
    return EncodedSample{form_of(entry_.kind), record->payload};
  }

  io::Files& storage_;
  const SampleTable& table_;
  OpenShards& shards_;
  const std::uint64_t first_sample_;
  std::shared_ptr<const FileDescriptor> file_;  // shared with shards_, of the sample read last
  TableEntry entry_;
  std::vector<std::byte> buffer_;
};

Status check_set(const std::string& folder) {
  std::error_code ignored;
  if (fs::exists(folder + "/" + kIndexName, ignored)) return {};
  if (fs::exists(shard_path(folder, 0), ignored)) {
    return fail(ErrorCode::kNotFound,
                "{} holds shards but no {}: packing was interrupted; run the same command again "
                "and it goes on",
                folder, kIndexName);
  }
  return fail(ErrorCode::kNotFound, "{} holds no shards", folder);
}

/// The folder when `path` names one or the index in it; empty when it names a shard.
std::string set_folder(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return path;
  if (fs::path(path).filename() != kIndexName) return "";
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// A shard's own table, made from its records where it is not finished.
struct ShardTable {
  SampleTable table;
  std::uint64_t first_sample = 0;
  bool finished = true;
};

Result<ShardTable> open_shard_table(const std::shared_ptr<io::Files>& storage,
                                    const std::shared_ptr<const FileDescriptor>& file) {
  const Result<ShardHeader> header = read_shard_header(*storage, file->get());
  if (!header) return forward_error(header);
  Result<SampleTable> table = SampleTable::open(storage, file);
  if (!table && table.error().code == ErrorCode::kNotFound) {
    Result<SampleTable> scanned = SampleTable::scan(storage, file);
    if (!scanned) return forward_error(scanned);
    return ShardTable{std::move(*scanned), header->first_sample, false};
  }
  if (!table) return forward_error(table);
  if (table->shards().size() != 1 ||
      table->shards().front().listing.records_end > table->offset()) {
    return fail(ErrorCode::kCorruptData, "the table is that of other files");
  }
  return ShardTable{std::move(*table), header->first_sample, true};
}

Result<ShardTable> open_set_table(const std::shared_ptr<io::Files>& storage,
                                  const std::shared_ptr<const FileDescriptor>& file) {
  Result<SampleTable> table = SampleTable::open(storage, file);
  if (!table) return forward_error(table);
  for (const ShardPlace& place : table->shards()) {
    if (place.name.empty()) {
      return fail(ErrorCode::kCorruptData, "a shard's own table, not that of a set of shards");
    }
  }
  return ShardTable{std::move(*table), 0, true};
}

}  // namespace

bool ShardSource::is_shards(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return path.ends_with(".ush") || fs::path(path).filename() == kIndexName;
  }
  return fs::exists(path + "/" + kIndexName, ignored) || fs::exists(shard_path(path, 0), ignored);
}

Result<std::unique_ptr<ShardSource>> ShardSource::open(const std::string& path,
                                                       std::shared_ptr<io::Files> storage) {
  const std::string folder = set_folder(path);
  const bool is_set = !folder.empty();
  if (is_set) {
    if (Status status = check_set(folder); !status) return forward_error(status);
  }
  const std::string file_path = is_set ? folder + "/" + kIndexName : path;
  Result<FileDescriptor> opened = open_to_read(*storage, file_path);
  if (!opened) return forward_error(opened);
  // Shared by the table and, of a shard that stands alone, by those who read samples.
  const auto file = std::make_shared<const FileDescriptor>(std::move(*opened));
  Result<ShardTable> opened_table =
      is_set ? open_set_table(storage, file) : open_shard_table(storage, file);
  if (!opened_table) return error_in(file_path, opened_table.error());
  SampleTable* table = &opened_table->table;
  if (table->size() >= std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::kNotSupported, "{}: {} samples are more than 2^32 - 2", file_path,
                table->size());
  }
  OpenShards shards =
      is_set ? OpenShards(storage, folder, table->shards()) : OpenShards(path, file);
  std::unique_ptr<ShardSource> source(
      new ShardSource(std::move(storage), std::move(*table), std::move(shards)));
  source->first_sample_ = opened_table->first_sample;
  source->finished_ = opened_table->finished;
  return source;
}

std::string ShardSource::locate(std::uint64_t index) const {
  const Result<TableEntry> entry = table_.entry(index);
  if (!entry) return fmt::format("{}, sample {}", shards_.path(0), index);
  const Result<std::string> name = table_.name(*entry);
  return fmt::format("{}, byte {} ({})", shards_.path(entry->shard), entry->offset,
                     name ? *name : fmt::format("sample {}", index));
}

Result<std::unique_ptr<SampleReader>> ShardSource::open_reader() {
  return std::unique_ptr<SampleReader>(
      std::make_unique<ShardSampleReader>(*storage_, table_, shards_, first_sample_));
}

Result<RecordView> ShardSource::read_whole(std::uint64_t index, std::vector<std::byte>& buffer) {
  const Result<TableEntry> entry = table_.entry(index);
  if (!entry) return forward_error(entry);
  const auto file = shards_.open(entry->shard);
  if (!file) return forward_error(file);
  Result<RecordView> record = read_record(*storage_, (*file)->get(), entry->offset, buffer);
  if (!record) return record;
  Status status = check_record(record->header, *entry, first_sample_ + index);
  if (!status) return forward_error(status);
  return record;
}

}  // namespace unstarve::feed
