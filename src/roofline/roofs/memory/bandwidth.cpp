#include "roofline/roofs/memory/bandwidth.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "roofline/roofs/memory/stream_kernels.h"
#include "roofline/roofs/rate.h"
#include "roofline/roofs/repeats.h"

namespace unstarve::roofline {

namespace {

constexpr std::uint64_t kCachesTimes = 4;
constexpr std::uint64_t kSmallestArrayBytes = 64ULL << 20;
constexpr std::uint64_t kArrays = 3;
constexpr std::size_t kChunkElements = 512;  // of 8 bytes: a page
constexpr int kFewestRepeats = 3;
constexpr std::array<Stores, 3> kAllStores = {Stores::kPlain, Stores::kPlainNarrow,
                                              Stores::kNonTemporal};

/// Memory that nobody has touched yet, so that each thread gets its part where it runs.
class ArrayMemory {
 public:
  static Result<ArrayMemory> map(std::uint64_t bytes) {
    void* start =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return fail_errno(errno, fmt::format("cannot have {} bytes", bytes));
    // Only a wish: with small pages the CPU looks addresses up more often.
    static_cast<void>(::madvise(start, bytes, MADV_HUGEPAGE));
    return ArrayMemory(static_cast<double*>(start), bytes);
  }
  ArrayMemory(ArrayMemory&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(other.bytes_) {}
  ArrayMemory& operator=(ArrayMemory&&) = delete;
  ~ArrayMemory() {
    if (start_ != nullptr) ::munmap(start_, bytes_);
  }
  double* start() const { return start_; }

 private:
  ArrayMemory(double* start, std::uint64_t bytes) : start_(start), bytes_(bytes) {}
  double* start_;
  std::uint64_t bytes_;
};

/// Seconds of each repeat: by kernel, then by kind of stores.
using Timings = std::array<std::array<std::vector<double>, kAllStores.size()>, kStreamKernels>;

/// Threads that run STREAM's kernels on their parts of the arrays, all in step.
class StreamRun {
 public:
  StreamRun(const StreamArrays& arrays, int threads, Session& session)
      : arrays_(arrays), threads_(threads), session_(session), in_step_(threads) {}

  /// Errors: the system gives no thread.
  Result<Timings> run(std::int64_t duration_ns) {
    end_ns_ = session_.clock().now_ns() + duration_ns;
    std::vector<std::jthread> others;
    try {
      for (int i = 1; i < threads_; ++i) {
        others.emplace_back([this, i] {
          begin_.wait(Begin::kWaits);
          if (begin_.load() == Begin::kAll) work(i);
        });
      }
    } catch (...) {
      tell(Begin::kNobody);
      return tl::unexpected<Error>(caught_error());
    }
    tell(Begin::kAll);
    work(0);
    return std::move(timings_);
  }

 private:
  enum class Begin { kWaits, kAll, kNobody };
  void tell(Begin begin) {
    begin_.store(begin);
    begin_.notify_all();
  }

  StreamArrays part_of(int thread) const {
    const std::size_t chunks = arrays_.count / kChunkElements;
    const auto boundary = [&](int index) {
      const auto share = static_cast<std::size_t>(index);
      return chunks * share / static_cast<std::size_t>(threads_) * kChunkElements;
    };
    const std::size_t first = boundary(thread);
    return {arrays_.a + first, arrays_.b + first, arrays_.c + first, boundary(thread + 1) - first};
  }

  void work(int thread) {
    const StreamArrays mine = part_of(thread);
    std::fill_n(mine.a, mine.count, 1.0);
    std::fill_n(mine.b, mine.count, 2.0);
    std::fill_n(mine.c, mine.count, 0.0);
    for (int repeat = 0; goes_on(thread, repeat); ++repeat) {
      for (std::size_t stores = 0; stores < kAllStores.size(); ++stores) {
        for (std::size_t kernel = 0; kernel < kStreamKernels; ++kernel) {
          in_step_.arrive_and_wait();
          const std::int64_t start_ns = session_.clock().now_ns();
          run_stream_kernel(static_cast<StreamKernel>(kernel), kAllStores[stores], mine);
          in_step_.arrive_and_wait();
          const std::int64_t taken_ns = session_.clock().now_ns() - start_ns;
          // The first repeat only makes memory and caches ready, as in STREAM.
          if (thread == 0 && repeat > 0) {
            timings_[kernel][stores].push_back(static_cast<double>(taken_ns) / kNsPerS);
          }
        }
      }
    }
  }

  /// The first thread decides for all.
  bool goes_on(int thread, int repeat) {
    if (thread == 0) {
      const bool time_left = session_.clock().now_ns() < end_ns_;
      goes_on_ = !session_.stopped() && (time_left || repeat <= kFewestRepeats);
    }
    in_step_.arrive_and_wait();
    return goes_on_;
  }

  StreamArrays arrays_;
  int threads_;
  Session& session_;
  std::barrier<> in_step_;
  std::atomic<Begin> begin_{Begin::kWaits};
  std::int64_t end_ns_ = 0;
  bool goes_on_ = true;  // written by the first thread, read by all past the next barrier
  Timings timings_;
};

std::vector<double> rates_of(const std::vector<double>& seconds, double bytes) {
  std::vector<double> rates;
  for (const double each : seconds) rates.push_back(bytes / each);
  return rates;
}

void add_roofs(const Timings& timings, const StreamSize& size, int threads, Session& session) {
  const std::size_t elements = size.array_bytes / sizeof(double);
  for (std::size_t i = 0; i < kStreamKernels; ++i) {
    const auto kernel = static_cast<StreamKernel>(i);
    const double bytes = static_cast<double>(elements) * bytes_per_element(kernel);
    const std::vector<double> wide = rates_of(timings[i][0], bytes);
    const std::vector<double> narrow = rates_of(timings[i][1], bytes);
    const std::vector<double> past_caches = rates_of(timings[i][2], bytes);
    if (wide.empty() || narrow.empty()) return;  // somebody asked to stop
    const bool narrow_is_best = summarise(narrow).best > summarise(wide).best;
    const std::vector<double>& plain = narrow_is_best ? narrow : wide;
    const double plain_best = summarise(plain).best;
    const double other_best = summarise(past_caches).best;
    const bool non_temporal = other_best > plain_best;
    Roof roof = make_roof(fmt::format("memory.{}.{}_threads", to_string(kernel), threads),
                          "bytes/s", non_temporal ? past_caches : plain);
    roof.conditions.insert(
        roof.conditions.end(),
        {{"threads", std::int64_t{threads}},
         {"stores", std::string(non_temporal ? "non_temporal" : "plain")},
         {"plain_bytes_per_s", plain_best},
         {"plain_median_bytes_per_s", summarise(plain).median},
         {"non_temporal_bytes_per_s", other_best},
         {"array_bytes", static_cast<std::int64_t>(size.array_bytes)},
         {"last_level_caches_bytes", static_cast<std::int64_t>(size.caches_bytes)},
         {"arrays_large_enough", size.large_enough}});
    session.add(std::move(roof));
  }
}

}  // namespace

StreamSize stream_size(std::uint64_t caches_bytes, std::uint64_t free_bytes) {
  StreamSize size;
  size.caches_bytes = caches_bytes;
  const std::uint64_t wanted = std::max(kCachesTimes * caches_bytes, kSmallestArrayBytes);
  const std::uint64_t most = free_bytes / 2 / kArrays;
  const std::uint64_t chunk = kChunkElements * sizeof(double);
  size.array_bytes = std::min(wanted, most) / chunk * chunk;
  size.large_enough = size.array_bytes >= kCachesTimes * caches_bytes;
  return size;
}

void measure_memory(const Machine& machine, std::int64_t duration_ns, Session& session) {
  const StreamSize size = stream_size(machine.caches_bytes, machine.free_memory_bytes);
  if (size.array_bytes < (1ULL << 20)) {
    return session.lacks(
        "memory", fmt::format("only {} bytes of memory are free", machine.free_memory_bytes));
  }
  if (!size.large_enough) {
    session.note(
        "memory is too short for arrays of four times the caches: memory.* may be that "
        "of caches");
  }
  const std::vector<int> counts = thread_counts(machine.threads);
  const std::int64_t each_ns = duration_ns / static_cast<std::int64_t>(counts.size());
  for (const int threads : counts) {
    if (session.stopped()) return;
    session.doing(fmt::format("memory bandwidth, {} threads", threads));
    const auto memory = ArrayMemory::map(kArrays * size.array_bytes);
    if (!memory) return session.lacks("memory", memory.error().message);
    const std::size_t count = size.array_bytes / sizeof(double);
    double* const start = memory->start();
    StreamRun run({start, start + count, start + 2 * count, count}, threads, session);
    const Result<Timings> timings = run.run(each_ns);
    if (!timings) return session.lacks("memory", timings.error().message);
    add_roofs(*timings, size, threads, session);
  }
}

}  // namespace unstarve::roofline
