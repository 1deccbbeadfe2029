// Reads one trace again and again and prints how long it took, as JSON.
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "observe/import/kineto.h"

namespace {

double seconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Share of the span from the first step to the last in which at least one operation ran.
double busy_ratio(const unstarve::trace::Timeline& timeline) {
  if (timeline.steps.empty()) return 0;
  const std::int64_t start = timeline.steps.front().when.start_ns;
  std::int64_t end = start;
  for (const auto& step : timeline.steps) end = std::max(end, step.when.end_ns);
  std::int64_t busy = 0;
  std::int64_t reached = start;
  for (const auto& op : timeline.device_ops) {
    const std::int64_t until = std::min(op.end_ns, end);
    busy += std::max<std::int64_t>(0, until - std::max(op.start_ns, reached));
    reached = std::max(reached, until);
  }
  return static_cast<double>(busy) / static_cast<double>(end - start);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s TRACE [REPEATS]\n", argv[0]);
    return 2;
  }
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 1;
  std::string times;
  std::size_t operations = 0;
  std::size_t calls = 0;
  double busy = 0;
  for (int i = 0; i < repeats; ++i) {
    const double wall = seconds(CLOCK_MONOTONIC);
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const auto timeline = unstarve::observe::import_kineto(argv[1]);
    if (!timeline) {
      std::fprintf(stderr, "%s\n", timeline.error().message.c_str());
      return 2;
    }
    times += fmt::format("{}{{\"wall_s\": {:.6f}, \"cpu_s\": {:.6f}}}", i == 0 ? "" : ", ",
                         seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    operations = timeline->device_ops.size();
    calls = timeline->host_calls.size();
    busy = busy_ratio(*timeline);
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "{\"operations\": %zu, \"calls\": %zu, \"gpu_busy_ratio\": %.4f, "
      "\"peak_rss_bytes\": %ld, \"reads\": [%s]}\n",
      operations, calls, busy, usage.ru_maxrss * 1024, times.c_str());
  return 0;
}
