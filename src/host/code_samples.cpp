#include "host/code_samples.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

namespace unstarve::host {

namespace {

// Of 32 bytes for each sample: a CPU's of 2.5 s at 50 Hz, where they are fetched ten times a
// second.
constexpr std::size_t kDataBytes = 4096;

/// As the kernel writes one, for the sample_type below.
struct SampleRecord {
  perf_event_header header;
  std::uint64_t address;
  std::uint32_t pid;
  std::uint32_t thread;
  std::uint64_t t_ns;
};

perf_event_attr wanted(std::int64_t period_ns) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = static_cast<std::uint64_t>(period_ns);
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

/// The events of one CPU: a file, and a ring that the kernel writes.
class CpuRing {
 public:
  CpuRing() = default;
  CpuRing(CpuRing&& other) noexcept
      : file_(std::exchange(other.file_, -1)), ring_(std::exchange(other.ring_, nullptr)) {}
  CpuRing(const CpuRing&) = delete;
  CpuRing& operator=(const CpuRing&) = delete;
  CpuRing& operator=(CpuRing&&) = delete;
  ~CpuRing() {
    if (ring_ != nullptr) ::munmap(ring_, bytes());
    if (file_ >= 0) ::close(file_);
  }

  /// 0, or what errno says.
  int open(pid_t process, int cpu, perf_event_attr& attributes) {
    const long file = ::syscall(SYS_perf_event_open, &attributes, process, cpu, -1,
                                static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
    if (file < 0) return errno;
    file_ = static_cast<int>(file);
    void* const mapped =
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file_, /*offset=*/0);
    if (mapped == MAP_FAILED) return errno;
    ring_ = static_cast<std::byte*>(mapped);
    return 0;
  }

  void drain(std::vector<CodeSample>& to) {
    auto* const control = reinterpret_cast<perf_event_mmap_page*>(ring_);
    const std::uint64_t head =
        std::atomic_ref<__u64>(control->data_head).load(std::memory_order_acquire);
    std::uint64_t at = std::atomic_ref<__u64>(control->data_tail).load(std::memory_order_relaxed);
    while (head - at >= sizeof(perf_event_header) && head - at <= kDataBytes) {
      perf_event_header header = {};
      copy(at, &header, sizeof(header));
      if (header.size < sizeof(header) || header.size > head - at) break;
      if (header.type == PERF_RECORD_SAMPLE && header.size >= sizeof(SampleRecord)) {
        SampleRecord sample = {};
        copy(at, &sample, sizeof(sample));
        to.push_back(
            {static_cast<std::int64_t>(sample.t_ns), sample.pid, sample.thread, sample.address});
      }
      at += header.size;
    }
    std::atomic_ref<__u64>(control->data_tail).store(head, std::memory_order_release);
  }

 private:
  static std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
  static std::size_t bytes() { return page_bytes() + kDataBytes; }

  /// A record may begin at the ring's end and go on at its beginning.
  void copy(std::uint64_t from, void* to, std::size_t size) const {
    const std::byte* const data = ring_ + page_bytes();
    const std::size_t begin = from % kDataBytes;
    const std::size_t first = std::min(size, kDataBytes - begin);
    std::memcpy(to, data + begin, first);
    std::memcpy(static_cast<std::byte*>(to) + first, data, size - first);
  }

  int file_ = -1;
  std::byte* ring_ = nullptr;
};

class PerfCodeSamples final : public CodeSamples {
 public:
  void add(CpuRing ring) { rings_.push_back(std::move(ring)); }
  bool is_empty() const { return rings_.empty(); }
  void drain(std::vector<CodeSample>& to) override {
    for (CpuRing& ring : rings_) ring.drain(to);
  }

 private:
  std::vector<CpuRing> rings_;
};

}  // namespace

// An event that is inherited has a ring only if it is of one CPU: so there is one for each.
Result<std::unique_ptr<CodeSamples>> open_code_samples(pid_t process, std::int64_t period_ns) {
  perf_event_attr attributes = wanted(period_ns);
  auto samples = std::make_unique<PerfCodeSamples>();
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    CpuRing ring;
    const int failed = ring.open(process, cpu, attributes);
    if (failed == ENODEV) continue;  // a CPU that is off
    if (failed != 0) {
      const bool forbidden = failed == EACCES || failed == EPERM;
      return fail(forbidden ? ErrorCode::kNoPermission : ErrorCode::kNotSupported,
                  "cannot sample what process {} runs on CPU {}: {}{}", process, cpu,
                  std::strerror(failed),
                  forbidden ? "; kernel.perf_event_paranoid has to be 2 or less, and a container "
                              "has to allow perf_event_open"
                            : "");
    }
    samples->add(std::move(ring));
  }
  if (samples->is_empty()) return fail(ErrorCode::kNotSupported, "no CPU to sample is known");
  return std::unique_ptr<CodeSamples>(std::move(samples));
}

}  // namespace unstarve::host
