#include "feed/cache/cache_writer.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/io/read.h"
#include "base/io/write.h"
#include "feed/shard/record.h"
#include "feed/shard/shard_files.h"
#include "feed/shard/shard_writer.h"

namespace unstarve::feed {
namespace {

// What is left free for others: a twentieth of the disk, at most this.
constexpr std::uint64_t kMostReserve = std::uint64_t{4} << 30;

// The thread sleeps until this many bytes wait, or for so long after the first: waking it up for
// each copy costs the loading threads and it more than writing a quarter of the copy.
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kBatchWait{20};

// Of the disk at a time: writing into room that is there takes two thirds of the time.
constexpr std::uint64_t kReserveBytes = std::uint64_t{16} << 20;

constexpr std::size_t kSpareBuffers = 32;

ShardSample sample_of(const CacheItem& item, const std::string& name, std::int64_t label) {
  ShardSample sample;
  sample.kind = PayloadKind::kCoefficients;
  sample.index = item.index;
  sample.label = static_cast<std::int32_t>(label);
  sample.head_size = item.head_size;
  sample.name = std::string_view(name).substr(0, kMaxNameBytes);
  sample.payload = item.payload;
  sample.source_size = item.stamp.size;
  sample.source_mtime_ns = item.stamp.mtime_ns;
  return sample;
}

CacheEntry entry_for(const CacheItem& item) {
  CacheEntry entry;
  entry.size = item.payload.size();
  entry.source_size = item.stamp.size;
  entry.source_mtime_ns = item.stamp.mtime_ns;
  entry.source_ctime_ns = item.stamp.ctime_ns;
  entry.head_size = item.head_size;
  const bool kept = !item.payload.empty();
  entry.state = static_cast<std::uint16_t>(kept ? CacheState::kKept : CacheState::kRefused);
  entry.head_checksum = checksum_of(std::span(item.payload).first(item.head_size));
  return entry;
}

}  // namespace

CacheWriter::CacheWriter(Settings settings) : settings_(std::move(settings)) {
  const MutexLock lock(mutex_);
  spare_.reserve(kSpareBuffers);
}

CacheWriter::~CacheWriter() {
  close_by_ns_.store(settings_.clock.now_ns() + kCloseNs, std::memory_order_relaxed);
  std::jthread thread;
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    thread = std::move(thread_);
    changed_.notify_all();
  }
  if (thread.joinable()) thread.join();  // not by its destructor: there is work left
}

void CacheWriter::put(CacheItem& item) noexcept {
  const MutexLock lock(mutex_);
  const std::size_t size = item.payload.size();
  const std::size_t queued = queued_bytes_.load(std::memory_order_relaxed);
  if (stopped_.load(std::memory_order_relaxed) || closing_ || queued + size > kQueueBytes) {
    return drop();
  }
  const bool wake = queue_.empty() || (queued < kBatchBytes && queued + size >= kBatchBytes);
  try {
    queue_.push_back(std::exchange(item, CacheItem{}));
  } catch (...) {
    return drop();  // the loading thread has its pixels, and goes on
  }
  queued_bytes_.store(queued + size, std::memory_order_relaxed);
  if (!spare_.empty()) {
    item.payload = std::move(spare_.back());
    spare_.pop_back();
  }
  if (wake) changed_.notify_all();
  if (thread_.joinable()) return;
  if (Status started = start(); !started) {
    reason_ = std::move(started).error();
    stopped_.store(true, std::memory_order_relaxed);
  }
}

Status CacheWriter::start() {
  try {
    Result<std::jthread> started = settings_.start_thread([this] { run(); });
    if (!started) return forward_error(std::move(started));
    thread_ = std::move(*started);
    return {};
  } catch (...) {
    return tl::unexpected<Error>(caught_error());
  }
}

void CacheWriter::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "unstarve-cache");
  // At the loading threads' priority: what it writes is a tenth of what they do, and what it cannot
  // write in time they have encoded in vain.
  try {
    std::deque<CacheItem> items;
    while (take(items)) write_all(items);
    // The room that was not needed.
    if (reserved_ > end_) (void)settings_.folder.storage().truncate(copies_.get(), end_);
  } catch (...) {
    stop(caught_error());
  }
}

void CacheWriter::write_all(std::deque<CacheItem>& items) {
  for (CacheItem& item : items) {
    const std::size_t size = item.payload.size();
    write(item);
    const MutexLock lock(mutex_);
    queued_bytes_.fetch_sub(size, std::memory_order_relaxed);
    if (spare_.size() < kSpareBuffers) spare_.push_back(std::move(item.payload));
  }
  items.clear();
}

bool CacheWriter::take(std::deque<CacheItem>& items) {
  const MutexLock lock(mutex_);
  changed_.wait(mutex_, std::stop_token(),
                [this]() UNSTARVE_REQUIRES(mutex_) { return !queue_.empty() || closing_; });
  changed_.wait_for(mutex_, kBatchWait, [this]() UNSTARVE_REQUIRES(mutex_) {
    return queued_bytes_.load(std::memory_order_relaxed) >= kBatchBytes || closing_;
  });
  items.swap(queue_);
  return !items.empty();
}

void CacheWriter::write(CacheItem& item) {
  const bool late = settings_.clock.now_ns() > close_by_ns_.load(std::memory_order_relaxed);
  if (late || stopped_.load(std::memory_order_relaxed)) return drop();
  try {
    if (is_there(item)) return;
    if (Status status = append(item); !status) stop(std::move(status).error());
  } catch (...) {
    stop(caught_error());
  }
}

/// Another rank, or this one where an order repeats samples, may have been here.
bool CacheWriter::is_there(const CacheItem& item) const {
  if (item.replaces) return false;
  const std::optional<CacheEntry> found = settings_.folder.entry(item.index);
  const CacheEntry wanted = entry_for(item);
  return found && is_of(*found, item.stamp) && found->head_checksum == wanted.head_checksum &&
         found->state == wanted.state;
}

Status CacheWriter::append(CacheItem& item) {
  CacheFolder& folder = settings_.folder;
  CacheEntry entry = entry_for(item);
  if (item.payload.empty()) {
    if (Status status = folder.write_entry(item.index, entry); !status) return status;
    refused_.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  if (!copies_) {
    if (Status status = open_copies(); !status) return status;
  }
  const std::string name = settings_.name(item.index);
  encode_record_start(sample_of(item, name, settings_.label(item.index)), record_start_);
  const std::uint64_t size = record_start_.size() + align_up(item.payload.size());
  if (Status status = check_room(size); !status) return status;
  entry.offset = end_ + record_start_.size();
  entry.file = number_;
  Status status = write_record(item.payload);
  if (status) status = folder.write_entry(item.index, entry);
  if (!status) {
    // Nothing points at the record: the disk, which may be full, gets its bytes back.
    (void)folder.storage().truncate(copies_.get(), end_);
    return status;
  }
  end_ += size;
  kept_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(size, std::memory_order_relaxed);
  return {};
}

/// In two parts: copying the payload behind its header would cost as much as a quarter of writing.
Status CacheWriter::write_record(std::vector<std::byte>& payload) {
  io::Files& storage = settings_.folder.storage();
  payload.resize(align_up(payload.size()));
  if (Status status = io::write_all_at(storage, copies_.get(), end_, record_start_); !status)
    return status;
  return io::write_all_at(storage, copies_.get(), end_ + record_start_.size(), payload);
}

/// The first file that no other process writes to: one that somebody has left, or a new one.
Status CacheWriter::open_copies() {
  CacheFolder& folder = settings_.folder;
  for (std::uint16_t number = 0; number < CacheFolder::kFilesMax; ++number) {
    Result<FileDescriptor> file = open_to_write(folder.storage(), folder.copies_path(number));
    if (!file) return forward_error(file);
    const Result<bool> locked = folder.storage().try_lock(file->get());
    if (!locked) return forward_error(locked);
    if (!*locked) continue;
    Status status = take_copies(std::move(*file), number);
    if (status || status.error().code != ErrorCode::kCorruptData) return status;
  }
  return fail(ErrorCode::kIo, "{} processes write to this cache, more cannot",
              CacheFolder::kFilesMax);
}

/// A record that was cut off by a kill stays where it is: no entry points at it.
Status CacheWriter::take_copies(FileDescriptor file, std::uint16_t number) {
  io::Files& storage = settings_.folder.storage();
  const Result<std::uint64_t> size = io::size_of(storage, file.get());
  if (!size) return forward_error(size);
  const ShardHeader header = make_shard_header(settings_.folder.key(), number, 0);
  if (*size < sizeof(ShardHeader)) {
    if (Status status = io::write_all_at(storage, file.get(), 0, bytes_of(header)); !status)
      return status;
  } else {
    const Result<ShardHeader> found = read_shard_header(storage, file.get());
    if (!found) return forward_error(found);
    if (found->checksum != header.checksum) {
      return fail(ErrorCode::kCorruptData, "the file belongs to another cache");
    }
  }
  copies_ = std::move(file);
  number_ = number;
  end_ = align_up(std::max(*size, std::uint64_t{sizeof(ShardHeader)}));
  return {};
}

Status CacheWriter::check_room(std::uint64_t more) {
  const Result<std::uint64_t> bytes = settings_.folder.bytes();
  if (!bytes) return forward_error(bytes);
  bytes_.store(*bytes, std::memory_order_relaxed);
  if (*bytes + more > settings_.max_bytes) {
    return fail(ErrorCode::kIo, "the cache has reached its {} bytes", settings_.max_bytes);
  }
  const Result<io::DiskSpace> space = settings_.folder.storage().space(copies_.get());
  if (!space) return forward_error(space);
  const std::uint64_t kept_free = std::min(space->total / 20, kMostReserve);
  if (space->free < kept_free + more) {
    return fail(ErrorCode::kIo, "the disk has {} bytes free, {} are left for other programs",
                space->free, kept_free);
  }
  reserve(more, std::min(settings_.max_bytes - *bytes, space->free - kept_free));
  return {};
}

void CacheWriter::reserve(std::uint64_t more, std::uint64_t room) {
  if (end_ + more <= reserved_ || room < more + kReserveBytes) return;
  settings_.folder.storage().reserve(copies_.get(), end_, more + kReserveBytes);
  reserved_ = end_ + more + kReserveBytes;
}

void CacheWriter::stop(Error reason) noexcept {
  const MutexLock lock(mutex_);
  reason_ = std::move(reason);
  stopped_.store(true, std::memory_order_relaxed);
  drop();
}

void CacheWriter::add_to(CacheStats& stats) const {
  stats.kept = kept_.load(std::memory_order_relaxed);
  stats.dropped = dropped_.load(std::memory_order_relaxed);
  stats.refused = refused_.load(std::memory_order_relaxed);
  stats.waiting_bytes = queued_bytes_.load(std::memory_order_relaxed);
  stats.bytes = bytes_.load(std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  if (reason_) stats.stopped = reason_->message;
}

}  // namespace unstarve::feed
