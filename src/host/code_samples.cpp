#include "host/code_samples.h"

#include <linux/perf_event.h>
#include <poll.h>
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

#include "base/unique_handle.h"

namespace unstarve::host {

namespace {

/// As the kernel writes one, for the sample_type below.
struct SampleRecord {
  perf_event_header header;
  std::uint64_t address;
  std::uint64_t t_ns;
};

perf_event_attr wanted(std::int64_t period_ns) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = static_cast<std::uint64_t>(period_ns);
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

/// The kernel writes into the page behind the first one, which says how far it came. A page holds
/// 170 samples: 3.4 s of a thread at 50 Hz.
class ThreadSamples final : public CodeSamples {
 public:
  ThreadSamples() = default;
  ThreadSamples(const ThreadSamples&) = delete;
  ThreadSamples& operator=(const ThreadSamples&) = delete;
  ~ThreadSamples() override {
    if (ring_ != nullptr) ::munmap(ring_, 2 * page_bytes_);
  }

  /// 0, or what errno says.
  int open(pid_t thread, perf_event_attr attributes) {
    constexpr int kAnyCpu = -1;
    constexpr int kNoGroup = -1;
    const long file = ::syscall(SYS_perf_event_open, &attributes, thread, kAnyCpu, kNoGroup,
                                static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
    if (file < 0) return errno;
    file_.reset(static_cast<int>(file));
    void* const mapped = ::mmap(nullptr, 2 * page_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                                file_.get(), /*offset=*/0);
    if (mapped == MAP_FAILED) return errno;
    ring_ = static_cast<std::byte*>(mapped);
    return 0;
  }

  bool has_ended() const override {
    pollfd event = {file_.get(), POLLIN, 0};
    return ::poll(&event, 1, /*timeout=*/0) == 1 && (event.revents & POLLHUP) != 0;
  }

  void drain(std::vector<CodeSample>& to) override {
    auto* const control = reinterpret_cast<perf_event_mmap_page*>(ring_);
    const std::uint64_t head =
        std::atomic_ref<__u64>(control->data_head).load(std::memory_order_acquire);
    std::uint64_t at = std::atomic_ref<__u64>(control->data_tail).load(std::memory_order_relaxed);
    while (head - at >= sizeof(perf_event_header) && head - at <= page_bytes_) {
      perf_event_header header = {};
      copy(at, &header, sizeof(header));
      if (header.size < sizeof(header) || header.size > head - at) break;
      if (header.type == PERF_RECORD_SAMPLE && header.size >= sizeof(SampleRecord)) {
        SampleRecord sample = {};
        copy(at, &sample, sizeof(sample));
        to.push_back({static_cast<std::int64_t>(sample.t_ns), sample.address});
      }
      at += header.size;
    }
    std::atomic_ref<__u64>(control->data_tail).store(head, std::memory_order_release);
  }

 private:
  /// A record may begin at the ring's end and go on at its beginning.
  void copy(std::uint64_t from, void* to, std::size_t size) const {
    const std::byte* const data = ring_ + page_bytes_;
    const std::size_t begin = from % page_bytes_;
    const std::size_t first = std::min(size, page_bytes_ - begin);
    std::memcpy(to, data + begin, first);
    std::memcpy(static_cast<std::byte*>(to) + first, data, size - first);
  }

  FileDescriptor file_;
  std::byte* ring_ = nullptr;
  std::size_t page_bytes_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
};

}  // namespace

Result<std::unique_ptr<CodeSamples>> open_code_samples(pid_t thread, std::int64_t period_ns) {
  auto samples = std::make_unique<ThreadSamples>();
  const int failed = samples->open(thread, wanted(period_ns));
  if (failed == 0) return std::unique_ptr<CodeSamples>(std::move(samples));
  if (failed == ESRCH) return fail(ErrorCode::kNotFound, "there is no thread {}", thread);
  const char* const reason = std::strerror(failed);
  if (failed == EACCES || failed == EPERM) {
    return fail(ErrorCode::kNoPermission,
                "cannot sample what thread {} runs: {}; kernel.perf_event_paranoid has to be 2 or "
                "less, and a container has to allow perf_event_open",
                thread, reason);
  }
  return fail(ErrorCode::kNotSupported, "cannot sample what thread {} runs: {}", thread, reason);
}

}  // namespace unstarve::host
