#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/unique_handle.h"
#include "cli/commands/commands.h"
#include "feed/pipeline/loader.h"
#include "kernels/simd_level.h"

namespace unstarve::cli {
namespace {

constexpr auto kPatience = std::chrono::hours(1);

struct BenchOptions {
  std::string source;
  std::string task = "rrc224";
  int threads = 1;
  int batch_size = 64;
  double seconds = 3;
  std::string simd;          // empty: the best that the CPU has
  bool first_batch = false;  // stop after it
  bool cold = false;         // each epoch begins with no file in the page cache
  bool no_read_ahead = false;
  bool json = false;
};

struct Usage {
  double wall_s = 0;
  double cpu_s = 0;  // user and system time of this process
};

struct BenchResult {
  std::uint64_t images = 0;
  Usage timed;
  std::uint64_t bytes = 0;
  double first_batch_s = 0;
  std::int64_t peak_rss_bytes = 0;
  feed::LoaderStats stats;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

Usage usage_now(const Clock& clock) {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return {1e-9 * static_cast<double>(clock.now_ns()),
          seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
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

Result<feed::LoaderOptions> loader_options(const BenchOptions& options) {
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

Result<BenchResult> run_bench(const BenchOptions& options) {
  const Result<feed::LoaderOptions> settings = loader_options(options);
  if (!settings) return forward_error(settings);
  if (!options.simd.empty()) {
    if (Status status = kernels::limit_simd(options.simd); !status) return forward_error(status);
  }
  const SteadyClock clock;
  BenchResult result;
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
    result.timed.wall_s += now.wall_s - before.wall_s;
    result.timed.cpu_s += now.cpu_s - before.cpu_s;
  } while (result.timed.wall_s < options.seconds);
  result.stats = (*loader)->stats();
  result.bytes = result.stats.bytes_read - bytes_before;
  result.peak_rss_bytes = peak_rss_bytes();
  return result;
}

/// With --first-batch: a start and nothing else.
void print_start(const BenchOptions& options, const BenchResult& result) {
  if (!options.json) {
    std::printf("%s: %.3f s until the first batch\n", options.source.c_str(), result.first_batch_s);
    return;
  }
  const nlohmann::ordered_json document = {{"schema", "unstarve.bench_start/1"},
                                           {"source", options.source},
                                           {"first_batch_s", result.first_batch_s},
                                           {"peak_rss_bytes", result.peak_rss_bytes}};
  std::printf("%s\n", document.dump(2).c_str());
}

void print_json(const BenchOptions& options, const BenchResult& result) {
  const auto images = static_cast<double>(result.images);
  const auto loaded = static_cast<double>(result.stats.images);
  const nlohmann::ordered_json document = {
      {"schema", "unstarve.bench/1"},
      {"source", options.source},
      {"task", options.task},
      {"threads", result.stats.threads},
      {"batch_size", options.batch_size},
      {"simd", kernels::simd_level()},
      {"images", result.images},
      {"images_per_s", images / result.timed.wall_s},
      {"images_per_cpu_s", images / result.timed.cpu_s},
      {"bytes_per_s", static_cast<double>(result.bytes) / result.timed.wall_s},
      {"peak_rss_bytes", result.peak_rss_bytes},
      {"first_batch_s", result.first_batch_s},
      {"per_image_us",
       {{"read", 1e-3 * static_cast<double>(result.stats.read_ns) / loaded},
        {"decode", 1e-3 * static_cast<double>(result.stats.decode_ns) / loaded},
        {"resize", 1e-3 * static_cast<double>(result.stats.resize_ns) / loaded}}},
      {"cold", options.cold},
      {"hints", result.stats.hints},
      {"slots_allocated", result.stats.slots_allocated}};
  std::printf("%s\n", document.dump(2).c_str());
}

void print_text(const BenchOptions& options, const BenchResult& result) {
  const auto images = static_cast<double>(result.images);
  const auto loaded = static_cast<double>(result.stats.images);
  std::printf("%s on %s, %d thread(s), batches of %d\n", options.task.c_str(),
              options.source.c_str(), result.stats.threads, options.batch_size);
  std::printf("  %10.0f images/s\n", images / result.timed.wall_s);
  std::printf("  %10.0f images per CPU second\n", images / result.timed.cpu_s);
  std::printf("  %10.1f MB/s read\n",
              1e-6 * static_cast<double>(result.bytes) / result.timed.wall_s);
  std::printf("  %10.1f MB of memory at most\n", 1e-6 * static_cast<double>(result.peak_rss_bytes));
  std::printf("  %10.3f s until the first batch\n", result.first_batch_s);
  std::printf("  %10llu files announced to the system before they were read\n",
              static_cast<unsigned long long>(result.stats.hints));
  std::printf("  per image: read %.0f us, decode %.0f us, resize %.0f us\n",
              1e-3 * static_cast<double>(result.stats.read_ns) / loaded,
              1e-3 * static_cast<double>(result.stats.decode_ns) / loaded,
              1e-3 * static_cast<double>(result.stats.resize_ns) / loaded);
}

}  // namespace

void add_bench_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "measure how fast unstarve's loader feeds images from a folder");
  command
      ->add_option("source", options->source,
                   "folder with one sub-folder of JPEGs per class, or with JPEGs")
      ->required();
  command
      ->add_option("--task", options->task,
                   "rrc224: random crop, resize to 224, flip; eval224: resize, centre crop")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "loading threads (0: all usable CPUs)")
      ->capture_default_str();
  command->add_option("--batch-size", options->batch_size, "images per batch")
      ->capture_default_str();
  command->add_option("--seconds", options->seconds, "measure for at least so long")
      ->capture_default_str();
  command->add_option("--simd", options->simd,
                      "use no instructions above avx512, avx2, sse4 or portable");
  command->add_flag("--first-batch", options->first_batch, "stop after the first batch");
  command->add_flag("--cold", options->cold,
                    "take the files out of the page cache before each epoch");
  command->add_flag("--no-read-ahead", options->no_read_ahead,
                    "announce no file to the system before it is read");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([&context, options] {
    const Result<BenchResult> result = run_bench(*options);
    if (!result) return report_error(context, result.error());
    if (options->first_batch) {
      print_start(*options, *result);
    } else {
      options->json ? print_json(*options, *result) : print_text(*options, *result);
    }
    context.exit_code = kSuccess;
  });
}

}  // namespace unstarve::cli
