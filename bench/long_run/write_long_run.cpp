// Writes the run of a made-up training of so many hours, by the writer that watches real ones, and
// prints what that took as one JSON object. --whole: nothing is thinned out.
//
//   write_long_run RUN_DIR HOURS [--step-ms MS] [--kernels N] [--whole]
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include "trace/run_writer.h"
#include "trace/testing/long_job.h"

namespace {

using namespace unstarve;

struct Arguments {
  std::string run_dir;
  trace::testing::LongJobShape shape;
  trace::RunWriterOptions options;
};

bool parse(int argc, char** argv, Arguments& out) {
  if (argc < 3) return false;
  out.run_dir = argv[1];
  out.shape.hours = std::atof(argv[2]);
  for (int at = 3; at < argc; ++at) {
    const std::string word = argv[at];
    if (word == "--whole") {
      out.options.thinning.rows_max = std::numeric_limits<std::int64_t>::max();
    } else if (at + 1 < argc && word == "--step-ms") {
      out.shape.step_ns = static_cast<std::int64_t>(std::atof(argv[++at]) * 1e6);
    } else if (at + 1 < argc && word == "--kernels") {
      out.shape.kernels = std::atoi(argv[++at]);
    } else {
      return false;
    }
  }
  return out.shape.hours > 0 && out.shape.step_ns > 0 && out.shape.kernels > 0;
}

double megabytes(const std::string& path) {
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(path, missing);
  return missing ? 0 : static_cast<double>(bytes) * 1e-6;
}

int complain(const Error& error) {
  std::fprintf(stderr, "write_long_run: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: write_long_run RUN_DIR HOURS [--step-ms MS] [--kernels N] [--whole]\n");
    return 2;
  }
  trace::RunInfo info;
  info.run_id = "long";
  info.command = {"python", "train.py"};
  info.started_ns = 5'000'000'000'000;
  info.device_kind = "cuda";
  auto writer = trace::RunWriter::create(arguments.run_dir, info, arguments.options);
  if (!writer) return complain(writer.error());
  const auto began = std::chrono::steady_clock::now();
  trace::testing::LongJob job(**writer, arguments.shape);
  if (const Status written = job.write(); !written) return complain(written.error());
  if (const Status ended = (*writer)->finish(job.now_ns(), 0); !ended) {
    return complain(ended.error());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  const trace::testing::LongJobTotals& totals = job.totals();
  const trace::WriteLosses losses = (*writer)->losses();
  fmt::print(
      "{{\"hours\": {}, \"steps\": {}, \"mean_step_ms\": {:.4f}, \"wait_ratio\": {:.5f}, "
      "\"store_mb\": {:.1f}, \"events_mb\": {:.1f}, \"seconds\": {:.1f}, "
      "\"slowest_commit_ms\": {:.1f}, \"peak_rss_mb\": {:.1f}, \"rows_lost\": {}, "
      "\"events_lost\": {}}}\n",
      arguments.shape.hours, totals.steps,
      1e-6 * static_cast<double>(totals.step_ns) / static_cast<double>(totals.steps),
      static_cast<double>(totals.wait_ns) / static_cast<double>(totals.step_ns),
      megabytes(arguments.run_dir + "/run.sqlite"), megabytes(arguments.run_dir + "/events-0.uev"),
      took.count(), 1e-3 * static_cast<double>(totals.slowest_commit_us),
      static_cast<double>(used.ru_maxrss) * 1e-3, losses.rows, losses.events);
  if (losses.first_error) std::fprintf(stderr, "%s\n", losses.first_error->message.c_str());
}
