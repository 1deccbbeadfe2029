#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/console/files.h"
#include "cli/console/terminal.h"
#include "cli/console/unreadable.h"
#include "cli/options/cost_options.h"
#include "examine/history/tried_predictions.h"
#include "examine/stages/stages.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/roofline/roofline_text.h"
#include "report/run_page.h"
#include "report/summary/summary_line.h"
#include "report/text/text.h"
#include "report/text/tried_predictions.h"
#include "trial/trial_folder.h"

namespace unstarve::cli {

namespace {

struct ReportOptions {
  std::string run;
  std::string html;
  std::string json;
  bool verbose = false;
  bool predictions = false;
  bool roofline = false;
  bool summary = false;
  CostOptions costs;
};

constexpr const char* kRuns = "runs";  // where `unstarve run` puts them

std::string as_json(const report::Report& shown) {
  return report::to_json(shown, !shown.verification.empty());
}

Status report_predictions(const std::string& folder) {
  const auto tried = examine::read_tried_predictions(folder);
  if (!tried) return forward_error(tried);
  write_text(Stream::kOut,
             report::render_tried_predictions(*tried, report_options(Stream::kOut, false)));
  return {};
}

/// The run's roofline alone.
Status report_roofline(const report::Report& shown) {
  if (!shown.position) {
    return fail(ErrorCode::kNotFound,
                "nothing to place under this machine's roofs: it is no run whose steps were timed, "
                "and whose GPU was recorded or, of a job that trains on the CPU, whose operations "
                "were counted (`unstarve run --flops`)");
  }
  write_text(Stream::kOut,
             report::roofline_text(*shown.position, report_options(Stream::kOut, false)));
  return {};
}

Status report_run(const ReportOptions& options) {
  if (options.predictions) return report_predictions(options.run.empty() ? kRuns : options.run);
  if (options.run.empty()) {
    return fail(ErrorCode::kInvalidArgument, "which run? `unstarve report RUN`");
  }
  const auto rates = rates_of(options.costs);
  if (!rates) return forward_error(rates);
  const std::vector<examine::Stage> stages = examine::read_stages(options.run);
  const std::string run =
      stages.empty() ? options.run : stages[examine::longest_stage(stages)].run_dir;
  ReadingLine line(run, true);
  const auto job = trial::read_trials(run, line.progress());
  line.clear();
  if (!job) return tl::unexpected<Error>(explained(job.error(), run));
  report::Report shown = report::make_report(*job);
  report::add_cost(job->before, *rates, shown);
  shown.stages = stages;
  if (!options.json.empty()) {
    if (Status written = write_file(options.json, as_json(shown)); !written) return written;
  }
  if (!options.html.empty()) {
    if (Status written = write_file(options.html, report::render_html(shown)); !written) {
      return written;
    }
  }
  if (options.roofline) return report_roofline(shown);
  if (options.summary) {
    const auto summary = report::summary_line(shown);
    if (!summary) return forward_error(summary);
    write_text(Stream::kOut, *summary + "\n");
    return {};
  }
  if (options.json.empty() && options.html.empty()) {
    write_text(Stream::kOut,
               report::render_text(shown, report_options(Stream::kOut, options.verbose)));
    write_remarks(job->before, options.verbose);
  }
  return {};
}

}  // namespace

void add_report_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("report", "show a run: in the terminal, as a page, as JSON");
  auto options = std::make_shared<ReportOptions>();  // lives as long as the parser's callback
  command.option("RUN", options->run,
                 "run folder, also of `run --fix` or of a --run-id (or a trace)");
  const Option html =
      command.option("--html", options->html, "write one self-contained page (- for stdout)");
  const Option json =
      command.option("--json", options->json, "write the diagnosis as JSON (- for stdout)");
  command.flag("--verbose", options->verbose, std::string(kVerboseHelp));
  command
      .flag("--roofline", options->roofline,
            "show where the run lies under this machine's roofs, as `unstarve roofline` measured "
            "them: a roofline in the terminal")
      .excludes(html)
      .excludes(json);
  command
      .flag("--summary", options->summary,
            "print one line of less than 1 kB for a cluster's own record of its jobs "
            "(docs/formats/summary.md)")
      .excludes(html)
      .excludes(json);
  command
      .flag("--predictions", options->predictions,
            "the predictions that were tried in a folder of runs (RUN; default: runs), and what "
            "came of them")
      .excludes(html)
      .excludes(json);
  add_cost_options(command, options->costs);
  command.when_named([&context, options] {
    if (const Status done = report_run(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
