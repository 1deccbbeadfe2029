#include "feed/cache/cache_writer.h"
#include "base/io/files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/testing/test_folder.h"
#include "feed/cache/cache_folder.h"

namespace unstarve::feed {
namespace {

constexpr std::uint64_t kWrittenSamples = 40;

/// A disk so slow that a copy takes a second, and that does not begin before it is told to.
class SlowFiles final : public io::Files {
 public:
  explicit SlowFiles(ManualClock& clock) : clock_(clock) {}
  Result<std::size_t> write_at(int file, std::uint64_t offset,
                               std::span<const std::byte> bytes) override {
    if (bytes.size() < kPayload) return Files::write_at(file, offset, bytes);
    begun_.wait(false);
    clock_.advance_ns(1'000'000'000);
    ++payloads;
    return Files::write_at(file, offset, bytes);
  }
  void begin() {
    begun_ = true;
    begun_.notify_all();
  }
  static constexpr std::size_t kPayload = 4096;
  std::atomic<std::uint64_t> payloads{0};

 private:
  ManualClock& clock_;
  std::atomic<bool> begun_{false};
};

/// Lets the disk begin when the thread that made the clock asks for the time, as the end of a
/// CacheWriter does.
class ClosingClock final : public Clock {
 public:
  ClosingClock(const ManualClock& clock, SlowFiles& storage) : clock_(clock), storage_(storage) {}
  std::int64_t now_ns() const override {
    const std::int64_t now_ns = clock_.now_ns();
    if (std::this_thread::get_id() == maker_) storage_.begin();
    return now_ns;
  }
  void sleep_until_ns(std::int64_t) override {}
  bool sleep_until_ns(std::int64_t, const std::stop_token&) override { return true; }

 private:
  const std::thread::id maker_ = std::this_thread::get_id();
  const ManualClock& clock_;
  SlowFiles& storage_;
};

CacheItem item_of(std::uint64_t index) {
  CacheItem item;
  item.index = index;
  item.stamp.size = 10'000;
  item.head_size = 64;
  item.payload.resize(SlowFiles::kPayload, std::byte{1});
  return item;
}

TEST(CacheWriter, ItsEndDoesNotWaitForASlowDisk) {
  const TestFolder folder;
  ManualClock time(1);
  const auto storage = std::make_shared<SlowFiles>(time);
  const ClosingClock clock(time, *storage);
  auto cache = CacheFolder::open(storage, folder.path(), {1, kWrittenSamples});
  ASSERT_TRUE(cache) << cache.error().message;
  {
    CacheWriter writer({**cache, std::uint64_t{1} << 40, [](std::uint64_t) { return "name"; },
                        [](std::uint64_t) { return 0; },
                        [](const std::function<void()>& body) { return std::jthread(body); },
                        clock});
    for (std::uint64_t index = 0; index < kWrittenSamples; ++index) {
      CacheItem item = item_of(index);
      writer.put(item);
    }
  }
  EXPECT_GE(storage->payloads, 1U);
  EXPECT_LE(time.now_ns(), 1 + CacheWriter::kCloseNs + 1'000'000'000) << "and one under way";
  for (std::uint64_t index = 0; index < kWrittenSamples; ++index) {
    EXPECT_EQ((*cache)->entry(index).has_value(), index < storage->payloads)
        << "what was written can be used, the rest is not there";
  }
}

}  // namespace
}  // namespace unstarve::feed
