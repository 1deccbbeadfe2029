#include "feed/shard/open_shards.h"

#include <utility>

#include "base/io/read.h"
#include "feed/shard/shard_writer.h"

namespace unstarve::feed {

// Files are shared with the readers that are just reading from one when it is closed here.
struct OpenShards::State {
  Mutex mutex;
  std::vector<std::shared_ptr<const FileDescriptor>> files UNSTARVE_GUARDED_BY(mutex);
  std::size_t open UNSTARVE_GUARDED_BY(mutex) = 0;
  std::size_t next_to_close UNSTARVE_GUARDED_BY(mutex) = 0;

  void close_one() UNSTARVE_REQUIRES(mutex) {
    while (files[next_to_close % files.size()] == nullptr) ++next_to_close;
    files[next_to_close % files.size()].reset();
    --open;
  }
};

OpenShards::OpenShards(std::shared_ptr<io::Files> storage, std::string folder,
                       std::vector<ShardPlace> places)
    : storage_(std::move(storage)),
      folder_(std::move(folder)),
      places_(std::move(places)),
      state_(std::make_unique<State>()) {
  MutexLock lock(state_->mutex);
  state_->files.resize(places_.size());
}

OpenShards::OpenShards(std::string path, std::shared_ptr<const FileDescriptor> file)
    : folder_(std::move(path)), state_(std::make_unique<State>()) {
  MutexLock lock(state_->mutex);
  state_->files.push_back(std::move(file));
  state_->open = 1;
}

OpenShards::OpenShards(OpenShards&& other) noexcept = default;
OpenShards::~OpenShards() = default;

std::string OpenShards::path(std::uint32_t shard) const {
  if (shard >= places_.size()) return folder_;
  return fmt::format("{}/{}", folder_, places_[shard].name);
}

Result<std::shared_ptr<const FileDescriptor>> OpenShards::open(std::uint32_t shard) {
  MutexLock lock(state_->mutex);
  if (shard >= state_->files.size()) {
    return fail(ErrorCode::kCorruptData, "the index names a shard that it does not list");
  }
  if (state_->files[shard] != nullptr) return state_->files[shard];
  if (state_->open >= kOpenMax) state_->close_one();
  const std::string path = this->path(shard);
  Result<FileDescriptor> file = open_to_read(*storage_, path);
  if (!file) return forward_error(file);
  const Result<ShardHeader> header = read_shard_header(*storage_, file->get());
  if (!header) return error_in(path, header.error());
  const Result<std::uint64_t> size = io::size_of(*storage_, file->get());
  if (!size) return error_in(path, size.error());
  const ShardListing& listing = places_[shard].listing;
  if (header->checksum != listing.header_checksum || *size < listing.records_end) {
    return fail(ErrorCode::kCorruptData,
                "{} is not the shard that the index beside it lists: copy the whole folder again",
                path);
  }
  state_->files[shard] = std::make_shared<const FileDescriptor>(std::move(*file));
  ++state_->open;
  return state_->files[shard];
}

}  // namespace unstarve::feed
