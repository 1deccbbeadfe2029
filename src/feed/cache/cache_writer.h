#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "feed/cache/cache_folder.h"
#include "feed/cache/cache_stats.h"
#include "feed/data/sample_source.h"

namespace unstarve::feed {

/// A copy on its way into the cache; without a payload it says that there can be none.
struct CacheItem {
  std::uint64_t index = 0;
  FileStamp stamp;
  std::uint32_t head_size = 0;
  bool replaces = false;  // a copy that turned out to be damaged
  std::vector<std::byte> payload;
};

/// Writes copies behind the back of the loading threads, with a thread of its own, which starts
/// with the first copy. It never makes anybody wait: copies that come faster than the disk takes
/// them are dropped. When the budget is used up, the disk is nearly full or a write fails, no
/// more are written.
/// No memory left is one more reason to write no more; nobody else notices.
/// Thread rule: any thread.
class CacheWriter {
 public:
  using StartThread = std::function<Result<std::jthread>(std::function<void()>)>;
  struct Settings {
    CacheFolder& folder;
    std::uint64_t max_bytes;                           // of all files of the folder
    std::function<std::string(std::uint64_t)> name;    // of a sample
    std::function<std::int64_t(std::uint64_t)> label;  // of a sample
    StartThread start_thread;
    const Clock& clock;
  };
  // Bytes of copies that wait; a second of what four threads make, at 130 KB for a photograph.
  static constexpr std::size_t kQueueBytes = std::size_t{64} << 20;

  /// How long its end may wait for a slow disk, the write under way aside.
  static constexpr std::int64_t kCloseNs = 2'000'000'000;

  explicit CacheWriter(Settings settings);
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;
  /// Writes what waits, for kCloseNs; copies that are left then are dropped, and made again when
  /// their samples are read the next time.
  ~CacheWriter();

  /// Whether a copy made now is likely to be written.
  bool wants() const {
    return !stopped_.load(std::memory_order_relaxed) &&
           queued_bytes_.load(std::memory_order_relaxed) < kQueueBytes / 2;
  }
  /// Takes the item's payload and leaves an empty buffer in its place.
  void put(CacheItem& item) noexcept;
  /// Adds what it knows.
  void add_to(CacheStats& stats) const;

 private:
  void run() noexcept;
  /// Waits for work and takes all of it; false when there will be no more.
  bool take(std::deque<CacheItem>& items);
  void write_all(std::deque<CacheItem>& items);
  Status start() UNSTARVE_REQUIRES(mutex_);
  void write(CacheItem& item);
  void drop() { dropped_.fetch_add(1, std::memory_order_relaxed); }
  bool is_there(const CacheItem& item) const;
  Status append(CacheItem& item);
  Status write_record(std::vector<std::byte>& payload);
  Status open_copies();
  Status take_copies(FileDescriptor file, std::uint16_t number);
  /// Why `more` bytes cannot be added, as an error.
  Status check_room(std::uint64_t more);
  /// Takes room on the disk in large pieces, out of `room` bytes that may be used.
  void reserve(std::uint64_t more, std::uint64_t room);
  void stop(Error reason) noexcept;

  Settings settings_;
  std::atomic<bool> stopped_{false};
  std::atomic<std::int64_t> close_by_ns_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<std::size_t> queued_bytes_{0};
  std::atomic<std::uint64_t> kept_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> bytes_{0};

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<CacheItem> queue_ UNSTARVE_GUARDED_BY(mutex_);
  std::vector<std::vector<std::byte>> spare_ UNSTARVE_GUARDED_BY(mutex_);  // buffers to give back
  std::optional<Error> reason_ UNSTARVE_GUARDED_BY(mutex_);
  bool closing_ UNSTARVE_GUARDED_BY(mutex_) = false;
  std::jthread thread_ UNSTARVE_GUARDED_BY(mutex_);

  // Of the thread alone.
  FileDescriptor copies_;
  std::uint16_t number_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t reserved_ = 0;  // up to where the file has room on the disk
  std::vector<std::byte> record_start_;
};

}  // namespace unstarve::feed
