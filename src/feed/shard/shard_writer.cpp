#include "feed/shard/shard_writer.h"

#include <utility>

#include "base/io/read.h"
#include "base/io/write.h"

namespace unstarve::feed {

ShardHeader make_shard_header(std::uint64_t set_id, std::uint32_t ordinal,
                              std::uint64_t first_sample) {
  ShardHeader header;
  header.set_id = set_id;
  header.ordinal = ordinal;
  header.first_sample = first_sample;
  seal(header);
  return header;
}

Result<ShardHeader> read_shard_header(io::Files& storage, int file) {
  ShardHeader header;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&header, 1));
  if (Status status = io::read_exactly(storage, file, 0, bytes); !status)
    return forward_error(status);
  if (header.magic != kShardMagic) return fail(ErrorCode::kCorruptData, "this is not a shard");
  if (!is_sealed(header)) return fail(ErrorCode::kCorruptData, "the shard's header is damaged");
  if (header.version != kShardVersion) {
    return fail(ErrorCode::kNotSupported, "the shard has format version {}, this program reads {}",
                header.version, kShardVersion);
  }
  return header;
}

ShardWriter::ShardWriter(std::shared_ptr<io::Files> storage, FileDescriptor file, std::string path)
    : storage_(std::move(storage)), file_(std::move(file)), path_(std::move(path)) {}

Result<ShardWriter> ShardWriter::open(std::shared_ptr<io::Files> storage, const std::string& path,
                                      const ShardHeader& header) {
  Result<FileDescriptor> file = open_to_write(*storage, path);
  if (!file) return forward_error(file);
  ShardWriter writer(std::move(storage), std::move(*file), path);
  if (Status status = writer.begin(header); !status) return error_in(path, status.error());
  return writer;
}

Status ShardWriter::begin(const ShardHeader& header) {
  header_ = header;
  const Result<std::uint64_t> size = io::size_of(*storage_, file_.get());
  if (!size) return forward_error(size);
  if (*size < sizeof(ShardHeader)) {  // new, or killed before its first record
    end_ = sizeof(ShardHeader);
    return io::write_all_at(*storage_, file_.get(), 0, bytes_of(header_));
  }
  const Result<ShardHeader> found = read_shard_header(*storage_, file_.get());
  if (!found) return forward_error(found);
  if (found->checksum != header.checksum) {
    return fail(ErrorCode::kInvalidArgument, "this shard belongs to another data set");
  }
  return go_on();
}

Status ShardWriter::go_on() {
  const auto visit = [this](std::uint64_t offset, const RecordView& record) {
    add_entry(record.header, offset, record.name);
    return Status();
  };
  const Result<std::uint64_t> end = scan_records(*storage_, file_.get(), visit);
  if (!end) return forward_error(end);
  end_ = *end;
  return storage_->truncate(file_.get(), end_);
}

void ShardWriter::add_entry(const RecordHeader& header, std::uint64_t offset,
                            std::string_view name) {
  piece_.entries.push_back(entry_of(header, offset, name));
  piece_.names.append(name);
  has_labels_ = has_labels_ || header.label != 0;
}

Status ShardWriter::append(const ShardSample& sample) {
  if (Status status = check_sample(sample); !status) return status;
  encode_record(sample, record_);
  if (Status status = io::write_all_at(*storage_, file_.get(), end_, record_); !status) {
    return error_in(path_, status.error());
  }
  RecordHeader header;
  std::memcpy(&header, record_.data(), sizeof(header));
  add_entry(header, end_, sample.name);
  end_ += record_.size();
  return {};
}

Status ShardWriter::finish(const std::vector<std::string>& classes) {
  TablePlan plan;
  plan.set_id = header_.set_id;
  plan.names_size = piece_.names.size();
  plan.has_labels = has_labels_;
  plan.classes = classes;
  plan.shards.emplace_back();
  plan.shards.front().listing = {end_, 0, samples(), header_.checksum, 0};
  plan.piece = [this](std::size_t) { return Result<TablePiece>(piece_); };
  if (Status status = write_table(*storage_, file_.get(), end_, plan); !status) {
    return error_in(path_, status.error());
  }
  return {};
}

}  // namespace unstarve::feed
