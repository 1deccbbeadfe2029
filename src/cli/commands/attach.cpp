#include <unistd.h>

#include <memory>
#include <string>

#include "base/number_words.h"
#include "cli/commands/commands.h"
#include "cli/console/files.h"
#include "cli/console/terminal.h"
#include "cli/options/cost_options.h"
#include "host/host_files.h"
#include "host/process_names.h"
#include "launch/run_folder.h"
#include "launch/watching/observed_job.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/run_page.h"
#include "report/text/text.h"

namespace unstarve::cli {

namespace {

constexpr int kHighestPid = 1 << 22;  // as the kernel has it

struct AttachOptions {
  int pid = 0;
  std::string out;
  std::string json;
  bool verbose = false;
  bool until_stdin_closes = false;
  CostOptions costs;
  cost::Rates rates;  // by these
};

/// What watching that begins in the middle can see of a GPU; empty for a job that uses none.
std::string what_gpu_was_seen(const examine::Examination& examined) {
  if (examined.job.device.kind != "cuda") return {};
  constexpr const char* kWhyNot = "CUPTI cannot be put into a process that runs already";
  if (examined.diagnosis.partition) {
    return fmt::format("GPU     as torch.profiler saw it in a few steps: {}\n", kWhyNot);
  }
  if (const auto mean = examined.measurement.gpu_utilization_mean) {
    return fmt::format("GPU     busy {} of the time, by NVML alone: {}\n", percent_text(*mean),
                       kWhyNot);
  }
  return fmt::format("GPU     not seen: {}\n", kWhyNot);
}

/// What the run showed, to whoever asked for it: on stdout, which is ours alone.
Status conclude(const AttachOptions& options, const std::string& run_dir,
                const observe::ObservationReport& watching) {
  auto examined = examine::examine_run(run_dir);
  if (!examined) return forward_error(examined);
  examine::predict(*examined, {});
  examined->remarks.insert(examined->remarks.begin(), watching.remarks.begin(),
                           watching.remarks.end());
  const trial::TriedJob job{*std::move(examined), {}};
  report::Report shown = report::make_report(job);
  report::add_cost(job.before, options.rates, shown);
  write_text(Stream::kOut,
             report::render_text(shown, report_options(Stream::kOut, options.verbose)));
  write_text(Stream::kOut, what_gpu_was_seen(job.before));
  Status written = write_file(run_dir + "/report.html", report::render_html(shown));
  const std::string json_path = options.json.empty() ? run_dir + "/diagnosis.json" : options.json;
  Status json = write_file(json_path, report::to_json(shown, false));
  if (written) written = std::move(json);
  if (written) written = trial::store_results(job);
  write_remarks(job.before, options.verbose);
  return written;
}

Status attach(AttachOptions& options, const CommandContext& context) {
  auto rates = rates_of(options.costs);
  if (!rates) return forward_error(rates);
  options.rates = *std::move(rates);
  if (Status json = check_writable(options.json); !json) return json;
  const auto run_dir =
      options.out.empty()
          ? launch::make_run_folder("runs", host::command_of(options.pid, host::HostFiles()))
          : Result<std::string>(options.out);
  if (!run_dir) return forward_error(run_dir);
  launch::AttachOptions watched;
  watched.pid = options.pid;
  watched.run_dir = *run_dir;
  if (options.until_stdin_closes) watched.leave_fd = STDIN_FILENO;
  watched.on_watching = [&options, &run_dir] {
    // The first line, by which a program that started us knows that it may go on.
    if (options.until_stdin_closes) write_text(Stream::kOut, "watching " + *run_dir + "\n");
  };
  const auto report = launch::watch_process(launch::find_installation(context.executable), watched);
  if (!report) {
    if (options.out.empty()) launch::remove_run_folder(*run_dir);
    return forward_error(report);
  }
  return conclude(options, *run_dir, *report);
}

}  // namespace

void add_attach_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "attach",
      "watch a process that runs already, until it ends or Ctrl-C. From outside only: its steps "
      "and waits are seen where it is inside `with unstarve.watch():`, which does this by itself");
  auto options = std::make_shared<AttachOptions>();  // lives as long as the parser's callback
  command.option("PID", options->pid, "the process").between(1, kHighestPid).required();
  command.option("--out", options->out, "folder for the run (default: runs/TIME_NAME)");
  command.option("--json", options->json,
                 "where the diagnosis is written as JSON (default: diagnosis.json in the run)");
  command.flag("--verbose", options->verbose, std::string(kVerboseHelp));
  command.flag("--until-stdin-closes", options->until_stdin_closes,
               "end when standard input does, for programs that start this one");
  add_cost_options(command, options->costs);
  command.when_named([&context, options] {
    if (const Status done = attach(*options, context); !done) {
      report_error(context, done.error());
    }
  });
}

}  // namespace unstarve::cli
