#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/files.h"
#include "cli/terminal.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/run_page.h"
#include "report/text/text.h"
#include "trial/examination.h"

namespace unstarve::cli {

namespace {

struct Options {
  std::vector<std::string> inputs;
  bool json = false;
  std::string html;
  bool verbose = false;
};

Status diagnose_one(const Options& options, const std::string& input) {
  ReadingLine line(input, !options.json);
  const auto examined = trial::examine(input, line.progress());
  line.clear();
  if (!examined) return forward_error(examined);
  const report::Report shown = report::make_report(*examined);
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
  write_notes(examined->remarks);
  return {};
}

}  // namespace

void add_diagnose_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("diagnose", "say why the GPU idled in a run or in somebody's trace");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  command
      .option("INPUT", options->inputs,
              "run folders, PyTorch traces (.json, .json.gz), exports of Nsight Systems (.sqlite)")
      .required();
  command.flag("--json", options->json, "print one JSON object per input, and nothing else");
  command.option("--html", options->html, "also write a page (one input only)");
  command.flag("--verbose", options->verbose, std::string(kVerboseHelp));
  command.when_named([&context, options] {
    if (!options->html.empty() && options->inputs.size() != 1) {
      report_error(context, {ErrorCode::kInvalidArgument, "--html takes one input", 0});
      return;
    }
    for (const std::string& input : options->inputs) {
      if (const Status done = diagnose_one(*options, input); !done) {
        report_error(context, done.error());
      }
    }
  });
}

}  // namespace unstarve::cli
