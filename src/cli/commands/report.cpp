#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/analysis.h"
#include "cli/commands/commands.h"
#include "cli/files.h"
#include "cli/remedies.h"
#include "cli/terminal.h"
#include "cli/trial.h"
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

/// A run, a trace, or a folder of trials.
Result<TriedRun> read(const std::string& path) {
  if (holds_trials(path)) return analyse_trials(path);
  auto analysis = analyse(path, true);
  if (!analysis) return forward_error(analysis);
  diagnose::attach_predictions(analysis->diagnosis, predict_remedies(*analysis, {}));
  return TriedRun{*std::move(analysis), {}};
}

std::string as_json(const TriedRun& run) {
  const auto& verification = run.tried.verification;
  return verification.empty() ? report::to_json(run.before.diagnosis)
                              : report::to_json(run.before.diagnosis, verification);
}

Status report_run(const Options& options) {
  const auto run = read(options.run);
  if (!run) return forward_error(run);
  const report::Report shown = to_report(run->before, run->tried);
  if (!options.json.empty()) {
    if (Status written = write_file(options.json, as_json(*run)); !written) return written;
  }
  if (!options.html.empty()) {
    if (Status written = write_file(options.html, report::render_html(shown)); !written) {
      return written;
    }
  }
  if (options.json.empty() && options.html.empty()) {
    write_text(Stream::kOut, report::render_text(shown, text_options(Stream::kOut)));
    for (const std::string& remark : run->before.remarks) {
      write_text(Stream::kErr, fmt::format("unstarve: note: {}\n", remark));
    }
  }
  return {};
}

}  // namespace

void add_report_command(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("report", "show a run: in the terminal, as a page, as JSON");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  command->add_option("RUN", options->run, "run folder, also of `run --fix` (or a trace)")
      ->required();
  command->add_option("--html", options->html, "write one self-contained page (- for stdout)");
  command->add_option("--json", options->json, "write the diagnosis as JSON (- for stdout)");
  command->callback([&context, options] {
    if (const Status done = report_run(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
