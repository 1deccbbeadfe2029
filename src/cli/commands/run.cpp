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

/// What the prediction of the cache leaves out.
std::string what_the_first_epoch_costs(const Calibration& calibration) {
  return fmt::format(
      "unstarve_cache is predicted from the second epoch on; in the first, which fills the cache, "
      "an image takes {:.2f} ms of CPU, {:.2f} ms without a cache",
      1e3 * calibration.cache_fill_cpu_s, 1e3 * calibration.folder->sample_cpu_s);
}

/// Predictions where the job's data can be loaded natively are calibrated on it.
void add_predictions(Analysis& analysis) {
  Calibration calibration;
  if (is_image_folder(analysis) && find_remedy(analysis.diagnosis, kUnstarveLoader) != nullptr) {
    calibration = calibrate(analysis.hook.dataset_root, NativeOutput::kFloat32);
    for (const std::string& remark : calibration.remarks) analysis.remarks.push_back(remark);
    if (calibration.cache) analysis.remarks.push_back(what_the_first_epoch_costs(calibration));
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

/// unstarve's package, before what the job's own variable says.
std::string python_path(const Installation& parts) {
  const char* theirs = std::getenv("PYTHONPATH");
  const bool some = theirs != nullptr && *theirs != '\0';
  return some ? parts.package_dir + ":" + theirs : parts.package_dir;
}

/// The runs of `run --fix`: the job as it is, then with each remedy that the hook can apply.
class Trials {
 public:
  Trials(const Options& options, std::string run_dir, const CommandContext& context)
      : options_(options),
        run_dir_(std::move(run_dir)),
        parts_(find_installation(context.executable)) {}

  Status run() {
    say(fmt::format("trial runs of {:.0f} s each; the job's output goes to {}/*/output.log",
                    options_.trial_seconds, run_dir_));
    auto before = run_one("before", {});
    if (!before) return forward_error(before);
    add_predictions(*before);
    if (Status tried = try_more_workers(*before); !tried) return tried;
    if (Status tried = try_native_loader(*before); !tried) return tried;
    if (Status shown = present(options_, run_dir_, run_dir_ + "/before", *before, tried_); !shown) {
      return shown;
    }
    say_remarks(before->remarks);
    return {};
  }

 private:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  Result<Analysis> run_one(const std::string& label, const Environment& environment) const {
    return run_trial(parts_, {label, options_.command, environment, run_dir_ + "/" + label,
                              !has_real_gpu(), options_.trial_seconds});
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
    const auto after =
        run_one(kUnstarveLoader, {{"UNSTARVE_FIX", native_loader_variable()},
                                  {"UNSTARVE_CACHE_DIR", ""},  // no first epoch of it
                                  {"PYTHONPATH", python_path(parts_)}});
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
};

void run(Options& options, CommandContext& context) {
  const std::string run_dir =
      options.out.empty() ? "runs/" + make_run_id(options.command) : options.out;
  if (!options.fix) {
    watch(options, run_dir, context);
    return;
  }
  if (const Status done = Trials(options, run_dir, context).run(); !done) {
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
