#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/console/files.h"
#include "cli/console/terminal.h"
#include "cli/console/unreadable.h"
#include "cli/options/cost_options.h"
#include "examine/examination.h"
#include "examine/ranks/rank_files.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/run_page.h"
#include "report/text/text.h"

namespace unstarve::cli {

namespace {

struct DiagnoseOptions {
  std::vector<std::string> inputs;
  bool json = false;
  std::string html;
  bool verbose = false;
  CostOptions costs;
};

Result<examine::Examination> read_input(const DiagnoseOptions& options, const std::string& input) {
  ReadingLine line(input, !options.json);
  auto examined = examine::examine(input, line.progress());
  line.clear();
  return examined;
}

Status show(const DiagnoseOptions& options, const examine::Examination& examined) {
  const auto rates = rates_of(options.costs);
  if (!rates) return forward_error(rates);
  report::Report shown = report::make_report(examined);
  report::add_cost(examined, *rates, shown);
  if (!options.html.empty()) {
    if (Status written = write_file(options.html, report::render_html(shown)); !written) {
      return written;
    }
  }
  if (options.json) {
    write_text(Stream::kOut, report::to_json(shown, false));
    return {};
  }
  write_text(Stream::kOut,
             report::render_text(shown, report_options(Stream::kOut, options.verbose)));
  write_remarks(examined, options.verbose);
  return {};
}

/// One report of all inputs where they are the ranks of one job, else one of each.
void diagnose_all(const DiagnoseOptions& options, CommandContext& context) {
  std::vector<examine::Examination> examined;
  for (const std::string& input : options.inputs) {
    auto examination = read_input(options, input);
    if (!examination) {
      report_error(context, explained(examination.error(), input));
    } else {
      examined.push_back(*std::move(examination));
    }
  }
  const std::optional<std::size_t> joined = examine::join_ranks(examined);
  if (!options.html.empty() && !joined && examined.size() > 1) {
    report_error(context, {ErrorCode::kInvalidArgument,
                           "--html takes one input, or traces that say which ranks of one job "
                           "they are of",
                           0});
    return;
  }
  for (std::size_t i = 0; i < examined.size(); ++i) {
    if (joined && i != *joined) continue;
    if (const Status done = show(options, examined[i]); !done) report_error(context, done.error());
  }
}

}  // namespace

void add_diagnose_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("diagnose", "say why the GPU idled in a run or in somebody's trace");
  auto options = std::make_shared<DiagnoseOptions>();  // lives as long as the parser's callback
  command
      .option("INPUT", options->inputs,
              "run folders, PyTorch traces (.json, .json.gz), exports of Nsight Systems (.sqlite), "
              "logs of nvidia-smi")
      .required();
  command.flag("--json", options->json,
               "print one JSON object per input (one for the ranks of a job), and nothing else");
  command.option("--html", options->html,
                 "also write a page (of one input, or of the ranks of a job)");
  command.flag("--verbose", options->verbose, std::string(kVerboseHelp));
  add_cost_options(command, options->costs);
  command.when_named([&context, options] { diagnose_all(*options, context); });
}

}  // namespace unstarve::cli
