#include "roofline/roofs/disk/disk_reads.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/io/files.h"
#include "base/io/read.h"
#include "roofline/roofs/disk/scratch_file.h"
#include "roofline/roofs/rate.h"
#include "roofline/roofs/repeats.h"

namespace unstarve::roofline {

namespace {

constexpr std::size_t kDirectAlignment = 4096;
constexpr std::uint64_t kCachedBlockBytes = 1ULL << 20;
constexpr std::uint64_t kMostCachedBytes = 256ULL << 20;
constexpr double kWritingShare = 0.3;  // of the time, at most
constexpr double kCachedShare = 0.1;
constexpr std::array<int, 6> kRandomDepths = {1, 2, 4, 8, 16, 32};
constexpr std::array<int, 3> kSequentialDepths = {1, 2, 4};

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};
using AlignedBuffer = std::unique_ptr<std::byte, Freed>;

/// Cheap numbers for offsets (xorshift64*); the same ones in every run.
class Offsets {
 public:
  Offsets(int thread, std::uint64_t blocks)
      : state_(0x9E3779B97F4A7C15ULL * (static_cast<std::uint64_t>(thread) + 1)), blocks_(blocks) {}
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return ((state_ * 0x2545F4914F6CDD1DULL) >> 16) % blocks_;
  }

 private:
  std::uint64_t state_;
  std::uint64_t blocks_;
};

void forget(int file, std::uint64_t offset, std::uint64_t bytes) {
  static_cast<void>(::posix_fadvise(file, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                                    POSIX_FADV_DONTNEED));
}

/// What one thread does: a read at the next place. Threads that read in sequence share `next`.
Result<Work> make_reads(int file, const ReadPattern& pattern, int thread,
                        std::atomic<std::uint64_t>& next) {
  AlignedBuffer buffer(
      static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, pattern.block_bytes)));
  if (buffer == nullptr) return tl::unexpected<Error>(out_of_memory());
  const std::uint64_t blocks = pattern.extent_bytes / pattern.block_bytes;
  // Shared only because a std::function is copied; one thread has it.
  auto owned = std::shared_ptr<std::byte>(std::move(buffer));
  return Work([=, &next, offsets = Offsets(thread, blocks)]() mutable -> Result<double> {
    io::Files files;
    const std::uint64_t block = pattern.random ? offsets.next() : next.fetch_add(1) % blocks;
    const std::span<std::byte> target(owned.get(), pattern.block_bytes);
    if (Status read = io::read_exactly(files, file, block * pattern.block_bytes, target); !read) {
      return forward_error(read);
    }
    if (pattern.uncached) forget(file, block * pattern.block_bytes, pattern.block_bytes);
    return static_cast<double>(pattern.block_bytes);
  });
}

void add_roof(const std::string& name, const std::vector<double>& rates, Conditions conditions,
              Session& session) {
  if (session.stopped() && rates.empty()) return;
  Roof roof = make_roof(name, "bytes/s", rates);
  roof.conditions.insert(roof.conditions.end(), conditions.begin(), conditions.end());
  session.add(std::move(roof));
}

void measure_page_cache(const Machine& machine, const ScratchFile& scratch,
                        std::int64_t duration_ns, Session& session) {
  const std::vector<int> counts = thread_counts(machine.threads);
  const std::int64_t each_ns = duration_ns / static_cast<std::int64_t>(counts.size());
  for (const int threads : counts) {
    if (session.stopped()) return;
    session.doing(fmt::format("page cache, {} threads", threads));
    const ReadPattern pattern{.name = "page_cache.read",
                              .block_bytes = kCachedBlockBytes,
                              .depth = threads,
                              .extent_bytes = std::min(scratch.bytes, kMostCachedBytes)};
    const auto rates = read_rates(scratch.file.get(), pattern, each_ns, session);
    if (!rates) return session.lacks("page_cache", rates.error().message);
    add_roof(fmt::format("{}.{}_threads", pattern.name, threads), *rates,
             {{"threads", std::int64_t{threads}},
              {"block_bytes", static_cast<std::int64_t>(kCachedBlockBytes)},
              {"file_system", scratch.file_system}},
             session);
  }
}

std::vector<ReadPattern> disk_patterns(const ScratchFile& scratch) {
  const std::uint64_t bytes = scratch.bytes;
  const bool uncached = !scratch.direct;
  std::vector<ReadPattern> patterns;
  for (const int depth : kSequentialDepths) {
    patterns.push_back({"disk.sequential", 1ULL << 20, false, depth, bytes, uncached});
  }
  for (const int depth : kRandomDepths) {
    patterns.push_back({"disk.random_4k", 4ULL << 10, true, depth, bytes, uncached});
  }
  for (const int depth : kRandomDepths) {
    patterns.push_back({"disk.random_128k", 128ULL << 10, true, depth, bytes, uncached});
  }
  return patterns;
}

void measure_pattern(const ScratchFile& scratch, const ReadPattern& pattern,
                     std::int64_t duration_ns, Session& session) {
  session.doing(fmt::format("{}, {} reads at once", pattern.name, pattern.depth));
  const bool is_direct = static_cast<bool>(scratch.direct);
  const int file = is_direct ? scratch.direct.get() : scratch.file.get();
  if (!is_direct) {
    io::Files().drop_cached(file);
    static_cast<void>(
        ::posix_fadvise(file, 0, 0, pattern.random ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL));
  }
  const auto rates = read_rates(file, pattern, duration_ns, session);
  const std::string name = fmt::format("{}.depth_{}", pattern.name, pattern.depth);
  if (!rates) return session.lacks(name, rates.error().message);
  Conditions conditions = {
      {"depth", std::int64_t{pattern.depth}},
      {"block_bytes", static_cast<std::int64_t>(pattern.block_bytes)},
      {"reads_per_s", summarise(*rates).best / static_cast<double>(pattern.block_bytes)},
      {"o_direct", is_direct},
      {"file_system", scratch.file_system},
      {"file_bytes", static_cast<std::int64_t>(scratch.bytes)}};
  add_roof(name, *rates, std::move(conditions), session);
}

}  // namespace

Result<std::vector<double>> read_rates(int file, const ReadPattern& pattern,
                                       std::int64_t duration_ns, Session& session) {
  std::atomic<std::uint64_t> next{0};
  const auto make = [&](int thread) { return make_reads(file, pattern, thread, next); };
  return measure_rate({.threads = pattern.depth, .duration_ns = duration_ns}, make, session);
}

void measure_disk(const Machine& machine, const DiskOptions& options, std::int64_t duration_ns,
                  Session& session) {
  const auto share_ns = [duration_ns](double share) {
    return static_cast<std::int64_t>(share * static_cast<double>(duration_ns));
  };
  session.doing(fmt::format("writing a scratch file in {}", options.folder));
  const std::int64_t start_ns = session.clock().now_ns();
  // It has to fit the page cache, where it is read first.
  const std::uint64_t file_bytes = std::min(options.most_bytes, machine.free_memory_bytes / 4);
  const auto scratch = make_scratch_file(
      {.folder = options.folder, .most_bytes = file_bytes, .duration_ns = share_ns(kWritingShare)},
      session);
  if (!scratch) {
    if (session.stopped()) return;
    session.lacks("page_cache", scratch.error().message);
    return session.lacks("disk", scratch.error().message);
  }
  measure_page_cache(machine, *scratch, share_ns(kCachedShare), session);
  if (is_in_memory(scratch->file_system)) {
    return session.lacks("disk", fmt::format("{} is in memory ({}), not on a disk: name a folder "
                                             "on one by --disk",
                                             options.folder, scratch->file_system));
  }
  if (!scratch->direct) {
    session.note(
        fmt::format("the file system of {} ({}) has no O_DIRECT: reads went through the "
                    "page cache, which was emptied after each",
                    options.folder, scratch->file_system));
  }
  const std::vector<ReadPattern> patterns = disk_patterns(*scratch);
  const std::int64_t left_ns = duration_ns - (session.clock().now_ns() - start_ns);
  // Where writing took longer than it may, a tenth of the time is left at least.
  const std::int64_t each_ns =
      std::max(left_ns, share_ns(0.1)) / static_cast<std::int64_t>(patterns.size());
  for (const ReadPattern& pattern : patterns) {
    if (session.stopped()) return;
    // A fifth more goes by before the first window.
    measure_pattern(*scratch, pattern, each_ns * 5 / 6, session);
  }
}

}  // namespace unstarve::roofline
