#include <CLI/CLI.hpp>
#include <memory>
#include <string>

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
  std::string run;
  std::string html;
  std::string json;
};

Status report_run(const Options& options) {
  auto analysis = analyse(options.run, true);
  if (!analysis) return forward_error(analysis);
  diagnose::attach_predictions(analysis->diagnosis, predict_remedies(*analysis, {}));
  const report::Report shown = to_report(*analysis);
  if (!options.json.empty()) {
    if (Status written = write_file(options.json, report::to_json(analysis->diagnosis)); !written) {
      return written;
    }
  }
  if (!options.html.empty()) {
    if (Status written = write_file(options.html, report::render_html(shown)); !written) {
      return written;
    }
  }
  if (options.json.empty() && options.html.empty()) {
    write_text(Stream::kOut, report::render_text(shown, text_options(Stream::kOut)));
  }
  return {};
}

}  // namespace

void add_report_command(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("report", "show a run: in the terminal, as a page, as JSON");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  command->add_option("RUN", options->run, "run folder (or a trace)")->required();
  command->add_option("--html", options->html, "write one self-contained page (- for stdout)");
  command->add_option("--json", options->json, "write the diagnosis as JSON (- for stdout)");
  command->callback([&context, options] {
    if (const Status done = report_run(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
