#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "examine/calibration/loader_bench.h"
#include "kernels/simd_level.h"
#include "report/words/json_text.h"

namespace unstarve::cli {
namespace {

struct BenchOptions {
  examine::LoaderBenchOptions bench;
  bool json = false;
};

/// With --first-batch: a start and nothing else.
void print_start(const BenchOptions& options, const examine::LoaderBenchResult& result) {
  if (!options.json) {
    std::printf("%s: %.3f s until the first batch\n", options.bench.source.c_str(),
                result.first_batch_s);
    return;
  }
  const nlohmann::ordered_json document = {{"schema", "unstarve.bench_start/1"},
                                           {"source", options.bench.source},
                                           {"first_batch_s", result.first_batch_s},
                                           {"peak_rss_bytes", result.peak_rss_bytes}};
  std::fputs(report::json_text(document).c_str(), stdout);
}

void print_json(const BenchOptions& options, const examine::LoaderBenchResult& result) {
  const auto images = static_cast<double>(result.images);
  const auto loaded = static_cast<double>(result.stats.images);
  const nlohmann::ordered_json document = {
      {"schema", "unstarve.bench/1"},
      {"source", options.bench.source},
      {"task", options.bench.task},
      {"threads", result.stats.threads},
      {"batch_size", options.bench.batch_size},
      {"simd", kernels::simd_level()},
      {"images", result.images},
      {"images_per_s", images / result.wall_s},
      {"images_per_cpu_s", images / result.cpu_s},
      {"bytes_per_s", static_cast<double>(result.bytes) / result.wall_s},
      {"peak_rss_bytes", result.peak_rss_bytes},
      {"first_batch_s", result.first_batch_s},
      {"per_image_us",
       {{"read", 1e-3 * static_cast<double>(result.stats.read_ns) / loaded},
        {"decode", 1e-3 * static_cast<double>(result.stats.decode_ns) / loaded},
        {"resize", 1e-3 * static_cast<double>(result.stats.resize_ns) / loaded}}},
      {"cold", options.bench.cold},
      {"hints", result.stats.hints},
      {"slots_allocated", result.stats.slots_allocated}};
  std::fputs(report::json_text(document).c_str(), stdout);
}

void print_text(const BenchOptions& options, const examine::LoaderBenchResult& result) {
  const auto images = static_cast<double>(result.images);
  const auto loaded = static_cast<double>(result.stats.images);
  std::printf("%s on %s, %d thread(s), batches of %d\n", options.bench.task.c_str(),
              options.bench.source.c_str(), result.stats.threads, options.bench.batch_size);
  std::printf("  %10.0f images/s\n", images / result.wall_s);
  std::printf("  %10.0f images per CPU second\n", images / result.cpu_s);
  std::printf("  %10.1f MB/s read\n", 1e-6 * static_cast<double>(result.bytes) / result.wall_s);
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

void add_bench_command(CommandLine& line, CommandContext& context) {
  auto options = std::make_shared<BenchOptions>();
  Command command =
      line.add_command("bench", "measure how fast unstarve's loader feeds images from a folder");
  command
      .option("source", options->bench.source,
              "folder with one sub-folder of JPEGs per class, or with JPEGs")
      .required();
  command
      .option("--task", options->bench.task,
              "rrc224: random crop, resize to 224, flip; eval224: resize, centre crop")
      .shows_default();
  command.option("--threads", options->bench.threads, "loading threads (0: all usable CPUs)")
      .shows_default();
  command.option("--batch-size", options->bench.batch_size, "images per batch").shows_default();
  command.option("--seconds", options->bench.seconds, "measure for at least so long")
      .shows_default();
  command.option("--simd", options->bench.simd,
                 "use no instructions above avx512, avx2, sse4 or portable");
  command.flag("--first-batch", options->bench.first_batch, "stop after the first batch");
  command.flag("--cold", options->bench.cold,
               "take the files out of the page cache before each epoch");
  command.flag("--no-read-ahead", options->bench.no_read_ahead,
               "announce no file to the system before it is read");
  command.flag("--json", options->json, "print one JSON object");
  command.when_named([&context, options] {
    const Result<examine::LoaderBenchResult> result = examine::run_loader_bench(options->bench);
    if (!result) return report_error(context, result.error());
    if (options->bench.first_batch) {
      print_start(*options, *result);
    } else {
      options->json ? print_json(*options, *result) : print_text(*options, *result);
    }
    context.exit_code = kSuccess;
  });
}

}  // namespace unstarve::cli
