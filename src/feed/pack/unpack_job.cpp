#include "feed/pack/unpack_job.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/io/write.h"
#include "feed/jpeg/transcode/restore_jpeg.h"
#include "feed/pack/coefficient_check.h"
#include "feed/pack/run_parallel.h"
#include "feed/pack/usable_cpus.h"
#include "feed/shard/shard_source.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;

/// What all threads count and share.
struct Unpacking {
  ShardSource& source;
  io::Files& storage;
  std::string target;
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> identical{0};
  std::atomic<std::uint64_t> bytes{0};
};

/// Unpacks one sample after the other; each thread has one.
class Unpacker {
 public:
  Unpacker(Unpacking& shared, CoefficientCheck check)
      : shared_(&shared), check_(std::move(check)) {}

  Status unpack(std::uint64_t index) {
    const Result<RecordView> record = shared_->source.read_whole(index, record_);
    if (!record) return forward_error(record);
    if (!is_safe_name(record->name)) {
      return fail(ErrorCode::kCorruptData,
                  "its name leads out of the folder: these shards are not to be trusted");
    }
    const auto file = file_of(*record);
    if (!file) return forward_error(file);
    ++shared_->done;
    shared_->bytes += file->size();
    return write(fmt::format("{}/{}", shared_->target, record->name), *file);
  }

 private:
  Result<std::span<const std::byte>> file_of(const RecordView& record) {
    const auto kind = static_cast<PayloadKind>(record.header.kind);
    if ((record.header.flags & kHasOriginal) != 0 || kind == PayloadKind::kBytes) {
      ++shared_->identical;
      return kind == PayloadKind::kBytes ? record.payload : record.original;
    }
    if (kind != PayloadKind::kCoefficients) {
      return fail(ErrorCode::kNotSupported, "it is an array, which was no file");
    }
    if (Status status = restore_jpeg(record.payload, jpeg_); !status) return forward_error(status);
    if (Status status = check_.compare(jpeg_, record.payload); !status) {
      return forward_error(status);
    }
    return std::span<const std::byte>(jpeg_);
  }

  Status write(const std::string& path, std::span<const std::byte> bytes) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    if (error) return fail_errno(error.value(), "cannot make the folder of " + path);
    const std::string temporary = path + ".unpacking";
    const Result<FileDescriptor> file = open_to_write(shared_->storage, temporary);
    if (!file) return forward_error(file);
    Status status = shared_->storage.truncate(file->get(), 0);
    if (status) status = io::write_all_at(shared_->storage, file->get(), 0, bytes);
    if (status) status = shared_->storage.rename(temporary, path);
    if (status) return {};
    fs::remove(temporary, error);
    return error_in(path, status.error());
  }

  Unpacking* shared_;
  CoefficientCheck check_;
  std::vector<std::byte> record_;
  std::vector<std::byte> jpeg_;
};

Status unpack_all(Unpacking& shared, int threads,
                  const std::function<void(std::uint64_t, std::uint64_t)>& on_progress) {
  const std::uint64_t total = shared.source.size();
  std::vector<std::shared_ptr<Unpacker>> unpackers;
  for (int i = 0; i < threads; ++i) {
    Result<CoefficientCheck> check = CoefficientCheck::create();
    if (!check) return forward_error(check);
    unpackers.push_back(std::make_shared<Unpacker>(shared, std::move(*check)));
  }
  const auto make_work = [&]() -> WorkOnItem {
    const std::shared_ptr<Unpacker> unpacker = unpackers.back();
    unpackers.pop_back();
    return [&, unpacker](const WorkItem& item) -> Status {
      if (Status status = unpacker->unpack(item.index); !status) {
        return error_in(shared.source.locate(item.index), status.error());
      }
      if (item.on_calling_thread) on_progress(shared.done, total);
      return {};
    };
  };
  return run_parallel(total, threads, make_work);
}

}  // namespace

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos) return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

Result<UnpackSummary> unpack_shards(
    const UnpackOptions& options,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& on_progress,
    const std::shared_ptr<io::Files>& storage) {
  const Result<int> threads = thread_count(options.threads);
  if (!threads) return forward_error(threads);
  const auto source = ShardSource::open(options.source, storage);
  if (!source) return forward_error(source);
  Unpacking shared{**source, *storage, options.target};
  if (Status status = unpack_all(shared, *threads, on_progress); !status) {
    return forward_error(status);
  }
  const std::uint64_t samples = shared.done;
  const std::uint64_t identical = shared.identical;
  return UnpackSummary{samples, identical, samples - identical, shared.bytes};
}

}  // namespace unstarve::feed
