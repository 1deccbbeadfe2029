#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/analysis.h"
#include "cli/commands/commands.h"
#include "cli/commands/numbers.h"
#include "cli/files.h"
#include "cli/observed_job.h"
#include "cli/recorded/run_folder.h"
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
constexpr double kLongestTrialS = 86'400;

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

/// What the prediction of the cache leaves out.
std::string what_the_first_epoch_costs(const Calibration& calibration) {
  return fmt::format(
      "unstarve_cache is predicted from the second epoch on; in the first, which fills the cache, "
      "an image takes {:.2f} ms of CPU, {:.2f} ms without a cache",
      1e3 * calibration.cache_fill_cpu_s, 1e3 * calibration.folder->sample_cpu_s);
}

/// Predictions where the job's data can be loaded natively are calibrated on it, given time.
void add_predictions(Analysis& analysis, bool given_time) {
  Calibration calibration;
  if (is_image_folder(analysis) && find_remedy(analysis.diagnosis, kUnstarveLoader) != nullptr) {
    if (given_time) {
      calibration = calibrate(analysis.hook.dataset_root, NativeOutput::kFloat32);
      for (const std::string& remark : calibration.remarks) analysis.remarks.push_back(remark);
      if (calibration.cache) analysis.remarks.push_back(what_the_first_epoch_costs(calibration));
    } else {
      analysis.remarks.emplace_back(
          "unstarve's loader was not measured on the job's images: a signal asked for the end");
    }
  }
  diagnose::attach_predictions(analysis.diagnosis, predict_remedies(analysis, calibration));
}

/// Everything that was asked for and could not be written is said; the first of it is returned.
Status write_reports(const Options& options, const std::string& page, const Analysis& analysis,
                     const Tried& tried) {
  const report::Report shown = to_report(analysis, tried);
  write_text(Stream::kErr, report::render_text(shown, text_options(Stream::kErr)));
  Status html = write_file(page, report::render_html(shown));
  say(html ? "the page is " + page : html.error().message);
  if (options.html.empty()) html = {};  // nobody asked for it
  if (options.json.empty()) return html;
  const std::string text = options.fix ? report::to_json(analysis.diagnosis, tried.verification)
                                       : report::to_json(analysis.diagnosis);
  Status json = write_file(options.json, text);
  if (!json) say(json.error().message);
  return json ? html : json;
}

/// Text on stderr (stdout is the job's), a page in `out`, JSON where it was asked for; findings go
/// into the store of `run_dir`. False when something that was asked for could not be written.
bool present(const Options& options, const std::string& out, const std::string& run_dir,
             const Analysis& analysis, const Tried& tried) {
  const std::string page = options.html.empty() ? out + "/report.html" : options.html;
  const Status written = write_reports(options, page, analysis, tried);
  const Status stored = store_results(run_dir, analysis.diagnosis, tried.verification);
  if (!stored) say(stored.error().message);
  return written.has_value();
}

int exit_code_of_start(const Error& error) {
  if (error.code == ErrorCode::kNotFound) return kShellNotFound;
  if (error.code == ErrorCode::kNoPermission) return kShellNotExecutable;
  return kFailed;
}

/// Whether the signal that came leaves time for more than the job's end: a scheduler's does not.
bool leaves_time(const observe::JobExit& exit) { return !exit.told || *exit.told == SIGINT; }

/// Says what the run showed. False when a report that was asked for could not be made.
bool conclude(const Options& options, const std::string& run_dir, const ObservedJob& observed) {
  say_remarks(observed.watching.remarks);
  auto analysis = analyse_run(run_dir);
  if (!analysis) {
    say(analysis.error().message);
    return options.json.empty() && options.html.empty();
  }
  add_predictions(*analysis, leaves_time(observed.exit));
  const bool shown = present(options, run_dir, run_dir, *analysis, {});
  say_remarks(analysis->remarks);
  return shown;
}

/// Watches one run. The job's exit code is passed on; only where it is 0 does a report that was
/// asked for and is missing make another of it.
void watch(const Options& options, const std::string& run_dir, CommandContext& context) {
  ObservedJobOptions job;
  job.command = options.command;
  job.run_dir = run_dir;
  const auto observed = run_observed(find_installation(context.executable), job);
  if (!observed) return report_error(context, observed.error());
  if (observed->not_started) {
    report_error(context, *observed->not_started);
    context.exit_code = exit_code_of_start(*observed->not_started);
    return;
  }
  context.exit_code = observed->exit.exit_code;
  const bool shown = conclude(options, run_dir, *observed);
  if (!shown && context.exit_code == kSuccess) context.exit_code = kFailed;
}

/// unstarve's package, before what the job's own variable says.
Result<std::string> python_path(const Installation& parts, const std::string& run_dir) {
  auto ours = lone_package_dir(parts, run_dir + "/package");
  const char* theirs = std::getenv("PYTHONPATH");
  if (ours && theirs != nullptr && *theirs != '\0') *ours += std::string(":") + theirs;
  return ours;
}

/// The runs of `run --fix`: the job as it is, then with each remedy that the hook can apply.
class Trials {
 public:
  Trials(const Options& options, std::string run_dir, const CommandContext& context)
      : options_(options),
        run_dir_(std::move(run_dir)),
        parts_(find_installation(context.executable)) {}

  /// What to exit with after a run() that succeeded, or was told to end.
  int exit_code() const { return told_ ? kEndedBySignal + *told_ : shown_ ? kSuccess : kFailed; }

  Status run() {
    say(fmt::format("trial runs of {:.0f} s each; the job's output goes to {}/*/output.log",
                    options_.trial_seconds, run_dir_));
    auto before = run_one("before", {});
    if (!before) return forward_error(before);
    add_predictions(*before, true);
    if (Status tried = try_more_workers(*before); !tried) return tried;
    if (Status tried = try_native_loader(*before); !tried) return tried;
    shown_ = present(options_, run_dir_, run_dir_ + "/before", *before, tried_);
    say_remarks(before->remarks);
    return {};
  }

 private:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  Result<Analysis> run_one(const std::string& label, const Environment& environment) {
    return run_trial(parts_,
                     {label, options_.command, environment, run_dir_ + "/" + label, !has_real_gpu(),
                      options_.trial_seconds},
                     told_);
  }

  Status try_more_workers(const Analysis& before) {
    const auto plan = plan_workers(before);
    if (!plan) {
      say("more_workers is not tried: the diagnosis does not advise it");
      return {};
    }
    const auto after = run_one(kMoreWorkers, {{"UNSTARVE_FIX", fix_variable(*plan)}});
    if (!after) return forward_error(after);
    keep(verify(before, *after, kMoreWorkers,
                fmt::format("num_workers={}, prefetch_factor={} in the DataLoader", plan->workers,
                            plan->prefetch_factor)),
         *after);
    return {};
  }

  /// Where the job's data can be loaded natively, the hook puts our loader in torch's place.
  Status try_native_loader(const Analysis& before) {
    if (find_remedy(before.diagnosis, kUnstarveLoader) == nullptr || !is_image_folder(before)) {
      say("unstarve_loader is not tried: the diagnosis does not advise it");
      return {};
    }
    const auto path = python_path(parts_, run_dir_);
    if (!path) return forward_error(path);
    const auto after =
        run_one(kUnstarveLoader, {{"UNSTARVE_FIX", native_loader_variable()},
                                  {"UNSTARVE_CACHE_DIR", ""},  // no first epoch of it
                                  {"PYTHONPATH", *path}});
    if (!after) return forward_error(after);
    if (!after->hook.fix_applied) {
      say("unstarve_loader does not take this job's loader: " +
          (after->hook.fix_refused.empty() ? "the hook saw none" : after->hook.fix_refused));
      return {};
    }
    keep(verify(before, *after, kUnstarveLoader,
                "from unstarve import DataLoader, in torch's place"),
         *after);
    if (find_remedy(before.diagnosis, kUnstarveCache) != nullptr) {
      say("unstarve_cache is not tried: it gains from the second epoch on. To switch it on beside "
          "that loader, set UNSTARVE_CACHE_DIR=DIR, DIR on a local disk");
    }
    return {};
  }

  void keep(const report::Verification& verification, const Analysis& after) {
    tried_.verification.push_back(verification);
    tried_.curves.push_back(after.utilization);
  }

  const Options& options_;
  std::string run_dir_;
  Installation parts_;
  Tried tried_;
  std::optional<int> told_;
  bool shown_ = true;
};

Status check_reports(const Options& options) {
  if (Status json = check_writable(options.json); !json) return json;
  return check_writable(options.html);
}

void run(const Options& options, CommandContext& context) {
  // Not at the end of a job of hours: what cannot be written then cannot be written now.
  if (const Status writable = check_reports(options); !writable) {
    report_error(context, writable.error());
    context.exit_code = kUsage;
    return;
  }
  const auto run_dir = options.out.empty() ? make_run_folder("runs", options.command)
                                           : Result<std::string>(options.out);
  if (!run_dir) return report_error(context, run_dir.error());
  if (!options.fix) return watch(options, *run_dir, context);
  Trials trials(options, *run_dir, context);
  const Status done = trials.run();
  if (!done) report_error(context, done.error());
  if (done || trials.exit_code() > kEndedBySignal) context.exit_code = trials.exit_code();
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
      ->check(number_between(0, kLongestTrialS))
      ->capture_default_str();
  command->add_option("COMMAND", options->command, "the job, after --")->required();
  command->positionals_at_end();
  command->callback([&context, options] { run(*options, context); });
}

}  // namespace unstarve::cli
