#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis.h"
#include "cli/commands/commands.h"
#include "cli/files.h"
#include "cli/remedies.h"
#include "cli/terminal.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/text/text.h"

namespace unstarve::cli {

namespace {

struct Options {
  std::vector<std::string> inputs;
  bool json = false;
  std::string html;
};

Status diagnose_one(const Options& options, const std::string& input) {
  auto analysis = analyse(input, !options.json);
  if (!analysis) return forward_error(analysis);
  diagnose::attach_predictions(analysis->diagnosis, predict_remedies(*analysis, {}));
  if (!options.html.empty()) {
    if (Status written = write_file(options.html, report::render_html(to_report(*analysis)));
        !written) {
      return written;
    }
  }
  if (options.json) {
    write_text(Stream::kOut, report::to_json(analysis->diagnosis));
    return {};
  }
  write_text(Stream::kOut, report::render_text(to_report(*analysis), text_options(Stream::kOut)));
  for (const std::string& remark : analysis->remarks) {
    write_text(Stream::kErr, fmt::format("unstarve: note: {}\n", remark));
  }
  return {};
}

}  // namespace

void add_diagnose_command(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand(
      "diagnose", "say why the GPU idled in a run or in a PyTorch profiler trace");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  command
      ->add_option("INPUT", options->inputs,
                   "run folders, or Kineto/Chrome traces (.json, .json.gz)")
      ->required();
  command->add_flag("--json", options->json, "print one JSON object per input, and nothing else");
  command->add_option("--html", options->html, "also write a page (one input only)");
  command->callback([&context, options] {
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
