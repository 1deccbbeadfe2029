// Runs a command under observation and prints what watching it cost, as one JSON object.
//
//   watching_cost RUN_DIR [--nvml LIBRARY] [--hook DIR] -- COMMAND...
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/monitor/open_gpu_monitor.h"
#include "host/host_files.h"
#include "observe/outside/job_process.h"
#include "observe/outside/observation.h"
#include "trace/run_writer.h"

namespace {

using namespace unstarve;

struct Arguments {
  std::string run_dir;
  std::string nvml;
  std::string hook;
  std::vector<std::string> command;
};

bool parse(int argc, char** argv, Arguments& out) {
  int at = 1;
  if (at < argc) out.run_dir = argv[at++];
  for (; at + 1 < argc && std::string(argv[at]) != "--"; at += 2) {
    (std::string(argv[at]) == "--nvml" ? out.nvml : out.hook) = argv[at + 1];
  }
  for (++at; at < argc; ++at) out.command.emplace_back(argv[at]);
  return !out.command.empty();
}

int complain(const Error& error) {
  std::fprintf(stderr, "watching_cost: %s\n", error.message.c_str());
  return 1;
}

void print(const observe::ObservationReport& report, const observe::LiveView& live,
           const observe::JobExit& end) {
  const auto ticks = static_cast<double>(report.ticks);
  fmt::print(
      "{{\"exit_code\": {}, \"elapsed_s\": {:.3f}, \"ticks\": {}, \"ticks_skipped\": {}, "
      "\"cpu_us_per_tick\": {:.1f}, \"cpu_cores\": {:.5f}, \"late_ms_max\": {:.2f}, \"steps\": {}, "
      "\"waited_s\": {:.3f}, \"ring_records_lost\": {}, \"rows_lost\": {}}}\n",
      end.exit_code, static_cast<double>(report.elapsed_ns) * 1e-9, report.ticks,
      report.ticks_skipped, static_cast<double>(report.cpu_ns) * 1e-3 / ticks,
      static_cast<double>(report.cpu_ns) / static_cast<double>(report.elapsed_ns),
      static_cast<double>(report.late_ns_max) * 1e-6, live.steps,
      static_cast<double>(live.waited_ns) * 1e-9, report.ring_records_lost,
      report.write_losses.rows + report.write_losses.events);
  for (const std::string& remark : report.remarks) fmt::print(stderr, "{}\n", remark);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: watching_cost RUN_DIR [--nvml LIBRARY] [--hook DIR] -- COMMAND\n");
    return 2;
  }
  const SteadyClock clock;
  const host::HostFiles files;
  auto gpus = device::open_gpu_monitor({.nvml_path = arguments.nvml}, clock);
  if (!gpus) return complain(gpus.error());
  trace::RunInfo info;
  info.run_id = "watching_cost";
  info.command = arguments.command;
  info.started_ns = clock.now_ns();
  info.started_wall_ns = wall_time_ns();
  auto writer = trace::RunWriter::create(arguments.run_dir, info, {});
  if (!writer) return complain(writer.error());

  observe::JobOptions options;
  options.command = arguments.command;
  options.run_dir = arguments.run_dir;
  options.hook_dir = arguments.hook;
  auto job = observe::JobProcess::start(options);
  if (!job) return complain(job.error());
  auto watching =
      observe::Observation::start({&clock, &files, gpus->get(), writer->get()}, {}, job->pid());
  if (!watching) return complain(watching.error());
  const auto end = job->wait();
  const observe::ObservationReport report = (*watching)->stop();
  if (!end) return complain(end.error());
  if (const Status done = (*writer)->finish(clock.now_ns(), end->exit_code); !done) {
    return complain(done.error());
  }
  print(report, (*watching)->live(), *end);
  return end->exit_code;
}
