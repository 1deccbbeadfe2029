#include "examine/calibration/loader_bench.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/unique_handle.h"
#include "examine/calibration/image_sample.h"
#include "kernels/simd_level.h"

namespace unstarve::examine {

namespace {

constexpr auto kPatience = std::chrono::hours(1);

struct Usage {
  double wall_s = 0;
  double cpu_s = 0;  // user and system time of this process
};

Usage usage_now(const Clock& clock) {
  return {1e-9 * static_cast<double>(clock.now_ns()), process_cpu_s()};
}

std::int64_t peak_rss_bytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

/// Takes the bytes of all files below `root` out of the page cache; their names stay known.
Status drop_from_cache(const std::string& root) {
  const auto drop = [](const std::filesystem::path& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file) (void)::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  };
  std::error_code error;
  if (!std::filesystem::is_directory(root, error)) {
    drop(root);
    return {};
  }
  constexpr auto kOptions = std::filesystem::directory_options::follow_directory_symlink;
  std::filesystem::recursive_directory_iterator entry(root, kOptions, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry->is_regular_file(error)) drop(entry->path());
  }
  if (error) return fail_errno(error.value(), "cannot list " + root);
  return {};
}

Status run_epoch(feed::Loader& loader, std::uint32_t epoch, std::uint64_t& images) {
  if (Status status = loader.begin_epoch(epoch); !status) return status;
  for (;;) {
    const Result<feed::NextBatch> next = loader.next(kPatience);
    if (!next) return forward_error(next);
    if (next->state == feed::NextState::kEnd) return {};
    if (next->state == feed::NextState::kBatch) {
      images += static_cast<std::uint64_t>(next->batch->count);
    }
  }
}

Result<feed::LoaderOptions> loader_options(const LoaderBenchOptions& options) {
  feed::LoaderOptions loader;
  loader.root = options.source;
  loader.threads = options.threads;
  loader.batch_size = options.batch_size;
  loader.read_ahead = !options.no_read_ahead;
  if (options.task == "eval224") {
    loader.transform = feed::evaluation_crop(224, 256);
    loader.shuffle = false;
  } else if (options.task != "rrc224") {
    return fail(ErrorCode::kInvalidArgument, "unknown task '{}': take rrc224 or eval224",
                options.task);
  }
  return loader;
}

}  // namespace

Result<LoaderBenchResult> run_loader_bench(const LoaderBenchOptions& options) {
  const Result<feed::LoaderOptions> settings = loader_options(options);
  if (!settings) return forward_error(settings);
  if (!options.simd.empty()) {
    if (Status status = kernels::limit_simd(options.simd); !status) return forward_error(status);
  }
  const SteadyClock clock;
  LoaderBenchResult result;
  const Usage begun = usage_now(clock);
  Result<std::unique_ptr<feed::Loader>> loader = feed::Loader::open(*settings);
  if (!loader) return forward_error(loader);
  if (Status status = (*loader)->begin_epoch(0); !status) return forward_error(status);
  const Result<feed::NextBatch> first = (*loader)->next(kPatience);
  if (!first) return forward_error(first);
  result.first_batch_s = usage_now(clock).wall_s - begun.wall_s;
  if (options.first_batch) {
    result.peak_rss_bytes = peak_rss_bytes();
    return result;
  }

  std::uint64_t warm_up = 0;
  if (Status status = run_epoch(**loader, 0, warm_up); !status) return forward_error(status);
  const std::uint64_t bytes_before = (*loader)->stats().bytes_read;
  std::uint32_t epoch = 1;
  do {
    if (options.cold) {
      if (Status status = drop_from_cache(options.source); !status) return forward_error(status);
    }
    const Usage before = usage_now(clock);
    if (Status status = run_epoch(**loader, epoch++, result.images); !status) {
      return forward_error(status);
    }
    const Usage now = usage_now(clock);
    result.wall_s += now.wall_s - before.wall_s;
    result.cpu_s += now.cpu_s - before.cpu_s;
  } while (result.wall_s < options.seconds);
  result.stats = (*loader)->stats();
  result.bytes = result.stats.bytes_read - bytes_before;
  result.peak_rss_bytes = peak_rss_bytes();
  return result;
}

}  // namespace unstarve::examine
