#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/analysis.h"
#include "cli/commands/commands.h"
#include "cli/files.h"
#include "cli/observed_job.h"
#include "cli/remedies.h"
#include "cli/terminal.h"
#include "cli/trial.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/text/text.h"

namespace unstarve::cli {

namespace {

// What a shell answers when a command is not there, or is no program.
constexpr int kShellNotFound = 127;
constexpr int kShellNotExecutable = 126;

struct Options {
  std::vector<std::string> command;
  std::string out;
  std::string json;
  std::string html;
  bool fix = false;
  double trial_seconds = 60;
};

void say(const std::string& text) { write_text(Stream::kErr, "unstarve: " + text + "\n"); }

void say_remarks(const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) say("note: " + remark);
}

/// Predictions where the job's data can be loaded natively are calibrated on it.
void add_predictions(Analysis& analysis) {
  Calibration calibration;
  if (is_image_folder(analysis)) {
    const auto measured = calibrate(analysis.dataset_root);
    if (measured) {
      calibration = *measured;
    } else {
      analysis.remarks.push_back("unstarve_loader: " + measured.error().message);
    }
  }
  diagnose::attach_predictions(analysis.diagnosis, predict_remedies(analysis, calibration));
}

/// Text on stderr (stdout is the job's), a page in `out`, JSON where it was asked for; findings go
/// into the store of `run_dir`.
Status present(const Options& options, const std::string& out, const std::string& run_dir,
               const Analysis& analysis, const Tried& tried) {
  const report::Report shown = to_report(analysis, tried);
  write_text(Stream::kErr, report::render_text(shown, text_options(Stream::kErr)));
  const std::string html = options.html.empty() ? out + "/report.html" : options.html;
  if (Status written = write_file(html, report::render_html(shown)); !written) return written;
  say("the page is " + html);
  if (Status stored = store_results(run_dir, analysis.diagnosis, tried.verification); !stored) {
    return stored;
  }
  if (options.json.empty()) return {};
  return write_file(options.json, options.fix
                                      ? report::to_json(analysis.diagnosis, tried.verification)
                                      : report::to_json(analysis.diagnosis));
}

int exit_code_of(const Error& error) {
  if (error.code == ErrorCode::kNotFound) return kShellNotFound;
  if (error.code == ErrorCode::kNoPermission) return kShellNotExecutable;
  return kFailed;
}

/// Watches one run; the job's exit code is passed on whatever becomes of the analysis.
void watch(const Options& options, const std::string& run_dir, CommandContext& context) {
  ObservedJobOptions job;
  job.command = options.command;
  job.run_dir = run_dir;
  const auto observed = run_observed(find_installation(context.executable), job);
  if (!observed) {
    report_error(context, observed.error());
    context.exit_code = exit_code_of(observed.error());
    return;
  }
  context.exit_code = observed->exit.exit_code;
  say_remarks(observed->watching.remarks);
  auto analysis = analyse_run(run_dir);
  if (!analysis) {
    say(analysis.error().message);
    return;
  }
  add_predictions(*analysis);
  if (const Status shown = present(options, run_dir, run_dir, *analysis, {}); !shown) {
    say(shown.error().message);
  }
  say_remarks(analysis->remarks);
}

Status run_trials(const Options& options, const std::string& run_dir,
                  const CommandContext& context) {
  const Installation parts = find_installation(context.executable);
  Trial trial{"before",        options.command,      {}, run_dir + "/before",
              !has_real_gpu(), options.trial_seconds};
  say(fmt::format("trial runs of {:.0f} s each; the job's output goes to {}/*/output.log",
                  options.trial_seconds, run_dir));
  auto before = run_trial(parts, trial);
  if (!before) return forward_error(before);
  add_predictions(*before);

  Tried tried;
  const auto plan = plan_workers(*before);
  if (plan) {
    trial.label = kMoreWorkers;
    trial.run_dir = run_dir + "/" + kMoreWorkers;
    trial.environment = {{"UNSTARVE_FIX", fix_variable(*plan)}};
    const auto after = run_trial(parts, trial);
    if (!after) return forward_error(after);
    tried.verification.push_back(
        verify(*before, *after, kMoreWorkers,
               fmt::format("num_workers={}, prefetch_factor={} in the DataLoader", plan->workers,
                           plan->prefetch_factor)));
    tried.curves.push_back(after->utilization);
  } else {
    say("more_workers is not tried: the diagnosis does not advise it");
  }
  if (Status shown = present(options, run_dir, run_dir + "/before", *before, tried); !shown) {
    return shown;
  }
  say_remarks(before->remarks);
  return {};
}

void run(Options& options, CommandContext& context) {
  const std::string run_dir =
      options.out.empty() ? "runs/" + make_run_id(options.command) : options.out;
  if (!options.fix) {
    watch(options, run_dir, context);
    return;
  }
  if (const Status done = run_trials(options, run_dir, context); !done) {
    report_error(context, done.error());
  }
}

}  // namespace

void add_run_command(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("run",
                         "run a job unchanged, watch it, and say at the end why the GPU idled\n"
                         "example: unstarve run -- python train.py --epochs 1");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  command->add_option("--out", options->out, "folder for the run (default: runs/TIME_NAME)");
  command->add_option("--json", options->json, "also write the diagnosis as JSON to this file");
  command->add_option("--html", options->html, "page to write (default: report.html in the run)");
  command->add_flag("--fix", options->fix,
                    "run the job several times for --trial-seconds each: as it is, then with each "
                    "remedy that needs no change of its code, and compare");
  command
      ->add_option("--trial-seconds", options->trial_seconds,
                   "length of a trial after its first step (with --fix; 0: to the job's end)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("COMMAND", options->command, "the job, after --")->required();
  command->positionals_at_end();
  command->callback([&context, options] { run(*options, context); });
}

}  // namespace unstarve::cli
