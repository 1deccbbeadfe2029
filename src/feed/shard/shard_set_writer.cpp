#include "feed/shard/shard_set_writer.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/io/read.h"
#include "base/io/write.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

tl::unexpected<Error> other_set(const std::string& path) {
  return fail(ErrorCode::kInvalidArgument,
              "{} was packed from other files or with other options: remove the folder or name "
              "another",
              path);
}

}  // namespace

std::string shard_path(const std::string& folder, std::uint32_t ordinal) {
  return fmt::format("{}/samples-{:05}.ush", folder, ordinal);
}

Result<ShardSetWriter> ShardSetWriter::open(std::shared_ptr<io::Files> storage,
                                            ShardSetOptions options) {
  ShardSetWriter writer(std::move(storage), std::move(options));
  if (Status status = writer.lock_folder(); !status) return forward_error(status);
  const std::string index = writer.options_.folder + "/" + kIndexName;
  if (exists(index)) {
    const Result<SampleTable> table = writer.open_table(index);
    if (!table) return forward_error(table);
    if (table->header().set_id != writer.options_.set_id) {
      return other_set(writer.options_.folder);
    }
    writer.finished_ = table->size();
    writer.ordinal_ = static_cast<std::uint32_t>(table->shards().size());
    writer.whole_ = true;
    return writer;
  }
  if (Status status = writer.find_shards(); !status) return forward_error(status);
  return writer;
}

Status ShardSetWriter::lock_folder() {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error) return fail_errno(error.value(), "cannot make the folder " + options_.folder);
  lock_.reset(::open(options_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_) return fail_errno(errno, "cannot open " + options_.folder);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  if (errno == EWOULDBLOCK) {
    return fail(ErrorCode::kInvalidArgument, "{}: another process writes shards there",
                options_.folder);
  }
  return fail_errno(errno, "cannot lock " + options_.folder);
}

Status ShardSetWriter::find_shards() {
  for (;; ++ordinal_) {
    const std::string path = shard_path(options_.folder, ordinal_);
    if (!exists(path)) return {};
    const Result<bool> finished = take_finished(path);
    if (!finished) return forward_error(finished);
    if (*finished) continue;
    Result<ShardWriter> writer =
        ShardWriter::open(storage_, path, make_shard_header(options_.set_id, ordinal_, finished_));
    if (!writer) return forward_error(writer);
    current_ = std::move(*writer);
    const std::string next = shard_path(options_.folder, ordinal_ + 1);
    if (!exists(next)) return {};
    return fail(ErrorCode::kCorruptData, "{} is not finished, but {} exists: remove the folder",
                path, next);
  }
}

Result<bool> ShardSetWriter::take_finished(const std::string& path) {
  Result<FileDescriptor> opened = open_to_read(*storage_, path);
  if (!opened) return forward_error(opened);
  const auto file = std::make_shared<const FileDescriptor>(std::move(*opened));
  const Result<std::uint64_t> size = io::size_of(*storage_, file->get());
  if (!size) return forward_error(size);
  if (*size < sizeof(ShardHeader)) return false;
  const Result<ShardHeader> header = read_shard_header(*storage_, file->get());
  if (!header) return error_in(path, header.error());
  if (header->checksum != make_shard_header(options_.set_id, ordinal_, finished_).checksum) {
    return other_set(path);
  }
  const Result<SampleTable> table = SampleTable::open(storage_, file);
  if (table) {
    finished_ += table->size();
    return true;
  }
  const ErrorCode code = table.error().code;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kCorruptData) return false;
  return error_in(path, table.error());
}

std::uint64_t ShardSetWriter::samples() const {
  return finished_ + (current_ ? current_->samples() : 0);
}

Status ShardSetWriter::append(const ShardSample& sample) {
  UNSTARVE_CHECK(sample.index == samples() && !whole_, "samples are appended in order");
  const std::uint64_t bytes = sample.payload.size() + sample.original.size();
  if (current_ && current_->samples() > 0 && current_->bytes() + bytes > options_.shard_bytes) {
    if (Status status = finish_current(); !status) return status;
  }
  if (!current_) {
    Result<ShardWriter> writer =
        ShardWriter::open(storage_, shard_path(options_.folder, ordinal_),
                          make_shard_header(options_.set_id, ordinal_, finished_));
    if (!writer) return forward_error(writer);
    current_ = std::move(*writer);
  }
  return current_->append(sample);
}

Status ShardSetWriter::finish_current() {
  if (Status status = current_->finish(options_.classes); !status) return status;
  finished_ += current_->samples();
  ++ordinal_;
  current_.reset();
  return io::sync_folder(*storage_, options_.folder);
}

Status ShardSetWriter::finish_shards() { return current_ ? finish_current() : Status(); }

Status ShardSetWriter::finish() {
  if (whole_) return {};
  if (Status status = finish_shards(); !status) return status;
  if (Status status = write_index(); !status) {
    return error_in(options_.folder + "/" + kIndexName, status.error());
  }
  whole_ = true;
  return {};
}

Result<SampleTable> ShardSetWriter::open_table(const std::string& path) {
  Result<FileDescriptor> file = open_to_read(*storage_, path);
  if (!file) return forward_error(file);
  Result<SampleTable> table =
      SampleTable::open(storage_, std::make_shared<const FileDescriptor>(std::move(*file)));
  if (!table) return error_in(path, table.error());
  return table;
}

Status ShardSetWriter::add_to_plan(TablePlan& plan, std::uint32_t ordinal) {
  const std::string path = shard_path(options_.folder, ordinal);
  const Result<SampleTable> table = open_table(path);
  if (!table) return forward_error(table);
  ShardPlace place = table->shards().front();
  place.name = fs::path(path).filename().string();
  if (!plan.shards.empty()) {
    const ShardListing& before = plan.shards.back().listing;
    place.listing.first_sample = before.first_sample + before.samples;
  }
  plan.shards.push_back(std::move(place));
  plan.names_size += table->header().names_size;
  plan.has_labels = plan.has_labels || table->header().labels_size != 0;
  return {};
}

Status ShardSetWriter::write_index() {
  TablePlan plan;
  plan.set_id = options_.set_id;
  plan.classes = options_.classes;
  for (std::uint32_t ordinal = 0; ordinal < ordinal_; ++ordinal) {
    if (Status status = add_to_plan(plan, ordinal); !status) return status;
  }
  plan.piece = [this](std::size_t number) -> Result<TablePiece> {
    const Result<SampleTable> table =
        open_table(shard_path(options_.folder, static_cast<std::uint32_t>(number)));
    if (!table) return forward_error(table);
    return table->piece();
  };
  const std::string path = options_.folder + "/" + kIndexName;
  const std::string temporary = path + ".tmp";
  const Result<FileDescriptor> file = open_to_write(*storage_, temporary);
  if (!file) return forward_error(file);
  Status status = storage_->truncate(file->get(), 0);
  if (status) status = write_table(*storage_, file->get(), 0, plan);
  if (status) status = storage_->rename(temporary, path);
  if (status) status = io::sync_folder(*storage_, options_.folder);
  return status;
}

}  // namespace unstarve::feed
