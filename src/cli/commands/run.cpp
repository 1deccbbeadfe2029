#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/shell_word.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/console/files.h"
#include "cli/console/job_screen.h"
#include "cli/console/live_trials.h"
#include "cli/console/live_verdict.h"
#include "cli/console/terminal.h"
#include "cli/console/tracked_values.h"
#include "cli/options/cost_options.h"
#include "cli/options/emulation_options.h"
#include "cli/options/isolation_options.h"
#include "examine/calibration/calibrate.h"
#include "examine/stages/stages.h"
#include "launch/run_folder.h"
#include "launch/watching/observed_job.h"
#include "report/headline.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/run_page.h"
#include "report/text/text.h"
#include "report/tried/trial_words.h"
#include "report/tuning/tuning_text.h"
#include "serve/metrics_endpoint.h"
#include "trial/trial_folder.h"
#include "tune/fix.h"

namespace unstarve::cli {

namespace {

constexpr double kLongestTrialS = 86'400;
constexpr double kMostMinutes = 7 * 24 * 60;
constexpr std::array<const char*, 3> kStages = {"preprocess", "train", "infer"};

struct RunOptions {
  std::vector<std::string> command;
  std::string out;
  std::string run_id;
  std::string stage;
  std::string json;
  std::string html;
  std::string metrics;  // where they are offered to Prometheus; empty: nowhere
  bool fix = false;
  bool verbose = false;
  bool no_live = false;
  bool live = false;   // the whole terminal
  bool track = false;  // into the job's own tracker
  bool flops = false;
  double trial_seconds = 60;
  double budget_minutes = 0;
  launch::EmulationOptions emulation{.gpu = {}};  // no GPU named: this machine's
  isolation::IsolationWish isolation;             // of --fix
  CostOptions costs;
  cost::Rates rates;  // by these
};

/// What shows each trial of `run --fix`.
class FixTrials final : public LiveTrials<tune::FixListener> {
 public:
  void isolated(const isolation::Isolation& by) override { say_isolated(by); }
  void measured(const trial::Verification& tried) override {
    say("tried " + report::tried_sentence(tried));
  }
  void noise(double noise_ratio) override { say(report::noise_sentence(noise_ratio)); }
  void has_nothing_to_try(const examine::Examination& job) override {
    say(report::nothing_tried_sentence(job.advice));
  }
  void left_out(const tune::LeverResult& entry) override { say(report::left_out_sentence(entry)); }
};

/// Predictions are calibrated on this machine, and on the job's data where these can be loaded
/// natively, given time.
void add_predictions(examine::Examination& examined, bool given_time) {
  if (given_time) {
    examine::predict_calibrated(examined);
    return;
  }
  if (examine::calibration_helps(examined)) {
    examined.remarks.emplace_back(
        "unstarve's loader was not measured on the job's images: a signal asked for the end");
  }
  examine::predict(examined, {});
}

/// Everything that was asked for and could not be written is said; the first of it is returned.
Status write_reports(const RunOptions& options, const std::string& page,
                     const report::Report& shown) {
  write_text(Stream::kErr,
             report::render_text(shown, report_options(Stream::kErr, options.verbose)));
  Status html = write_file(page, report::render_html(shown));
  say(html ? "the page is " + page : html.error().message);
  if (options.html.empty()) html = {};  // nobody asked for it
  if (options.json.empty()) return html;
  Status json = write_file(options.json, report::to_json(shown, options.fix));
  if (!json) say(json.error().message);
  return json ? html : json;
}

/// Text on stderr (stdout is the job's), a page in `out`, JSON where it was asked for; findings and
/// predictions go into the store. False when something that was asked for could not be written.
bool present(const RunOptions& options, const std::string& out, const trial::TriedJob& job) {
  const std::string page = options.html.empty() ? out + "/report.html" : options.html;
  report::Report shown = report::make_report(job);
  report::add_cost(job.before, options.rates, shown);
  const Status written = write_reports(options, page, shown);
  const Status stored = trial::store_results(job);
  if (!stored) say(stored.error().message);
  write_remarks(job.before, options.verbose);
  return written.has_value();
}

/// Whether the signal that came leaves time for more than the job's end: a scheduler's does not.
bool leaves_time(const observe::JobExit& exit) { return !exit.told || *exit.told == SIGINT; }

/// Says what the run showed. False when a report that was asked for could not be made.
bool conclude(const RunOptions& options, const std::string& run_dir,
              const launch::ObservedJob& observed) {
  const std::vector<std::string>& remarks = observed.watching.remarks;
  auto examined = examine::examine_run(run_dir);
  if (!examined) {
    write_notes(remarks);
    say(examined.error().message);
    return options.json.empty() && options.html.empty();
  }
  examined->remarks.insert(examined->remarks.begin(), remarks.begin(), remarks.end());
  add_predictions(*examined, leaves_time(observed.exit));
  return present(options, run_dir, {*std::move(examined), {}});
}

/// As conclude(). A fault of ours costs the report, not the job's exit code.
bool concluded(const RunOptions& options, const std::string& run_dir,
               const launch::ObservedJob& observed) {
  try {
    return conclude(options, run_dir, observed);
  } catch (const std::exception& error) {
    say(fmt::format("no report could be made of {}: {}", run_dir, error.what()));
    return false;
  }
}

/// Whether the view of --live is to be shown, and can be.
bool fills_terminal(const RunOptions& options) {
  if (!options.live) return false;
  if (Screen::is_possible()) return true;
  say("--live needs a terminal: here a line now and then says where the time goes");
  return false;
}

/// Null where nobody asked for it.
Result<std::unique_ptr<serve::MetricsEndpoint>> open_metrics(const std::string& where,
                                                             const std::string& run_dir) {
  if (where.empty()) return nullptr;
  const auto address = serve::parse_endpoint(where);
  if (!address) return forward_error(address);
  auto endpoint = serve::MetricsEndpoint::open(*address, run_dir);
  if (endpoint) say("series for Prometheus: " + (*endpoint)->address());
  return endpoint;
}

/// Watches one run. The job's exit code is passed on; only where it is 0 does a report that was
/// asked for and is missing make another of it.
void watch(const RunOptions& options, const std::string& run_dir, launch::Emulation* emulation,
           CommandContext& context) {
  launch::ObservedJobOptions job;
  job.command = options.command;
  job.run_dir = run_dir;
  job.stage = options.stage;
  job.emulation = emulation;
  if (options.flops) job.environment.emplace_back("UNSTARVE_FLOPS", "1");
  const auto endpoint = open_metrics(options.metrics, run_dir);
  if (!endpoint) {
    report_error(context, endpoint.error());
    context.exit_code = kUsage;
    return;
  }
  std::optional<EmulationNotes> notes;
  if (emulation != nullptr) notes.emplace(*emulation, EmulationNotes::Range::kInReport);
  SteadyClock clock;
  LiveVerdictLine live(clock, emulation != nullptr);
  std::optional<JobScreen> screen;
  if (fills_terminal(options)) {
    job.output_file = run_dir + "/job_output.log";
    screen.emplace(run_dir, kSecondNs, clock);
  }
  std::optional<TrackedValues> tracked;
  if (options.track) {
    job.environment.emplace_back("UNSTARVE_TRACK", "1");
    tracked.emplace(run_dir, clock);
  }
  job.on_tick = [&notes, &live, &screen, &tracked, &options](const observe::LiveView& view) {
    if (tracked) tracked->tick();
    if (screen) {
      if (!screen->turn(0) || screen->is_left()) screen.reset();
      return true;
    }
    if (notes) notes->update(view.steps + view.waits);
    if (!options.no_live) live.update(view);
    return true;
  };
  const auto observed = launch::run_observed(launch::find_installation(context.executable), job);
  screen.reset();
  live.finish();
  if (!observed) return report_error(context, observed.error());
  if (observed->not_started) {
    report_error(context, *observed->not_started);
    context.exit_code = exit_code_of_start(*observed->not_started);
    return;
  }
  if (notes) notes->finish();
  if (!job.output_file.empty()) say("the job's output is in " + job.output_file);
  context.exit_code = observed->exit.exit_code;
  const bool shown = concluded(options, run_dir, *observed);
  if (!shown && context.exit_code == kSuccess) context.exit_code = kFailed;
}

/// The diff that makes permanent what was kept, for `patch`.
void write_patch(const std::string& run_dir, const std::vector<trial::Verification>& tried) {
  const trial::Verification* const best = report::best_verified(tried);
  if (best == nullptr || best->outcome != trial::Outcome::kKept || best->diff.empty()) return;
  const std::string path = run_dir + "/fix.patch";
  const Status written = write_file(path, best->diff);
  const char* const where = best->diff_from_root ? "-p1 -d /" : "-p1";
  say(written ? fmt::format("to keep it: patch {} < {}", where, shell_word(path))
              : written.error().message);
}

/// Tries what the hook can apply.
void fix(const RunOptions& options, const std::string& run_dir, launch::Emulation* emulation,
         CommandContext& context) {
  const std::string length = options.trial_seconds > 0
                                 ? fmt::format("of {:.0f} s each", options.trial_seconds)
                                 : std::string("to the job's end");
  say(fmt::format("trial runs {}; the job's output goes to {}/*/output.log", length, run_dir));
  FixTrials trials;
  const auto job = tune::fix(launch::find_installation(context.executable),
                             {options.command, run_dir, options.trial_seconds,
                              60 * options.budget_minutes, emulation, options.isolation},
                             trials);
  if (!job) {
    report_error(context, job.error());
  } else {
    context.exit_code = present(options, run_dir, *job) ? kSuccess : kFailed;
    write_patch(run_dir, job->verification);
  }
}

Status check_reports(const RunOptions& options) {
  if (Status json = check_writable(options.json); !json) return json;
  return check_writable(options.html);
}

/// The GPUs that were asked for instead of this machine's; none where none were.
Result<std::optional<launch::Emulation>> emulated_gpus(RunOptions& options,
                                                       const CommandContext& context) {
  if (options.emulation.gpu.empty()) options.emulation.gpu = emulated_by_default();
  std::optional<launch::Emulation> gpus;
  if (options.emulation.gpu.empty()) return gpus;
  auto made = begin_emulation(context, options.emulation, options.command);
  if (!made) return forward_error(made);
  gpus.emplace(*std::move(made));
  return gpus;
}

/// Runs of one id lie beside each other, each in the folder of its stage.
Result<std::string> make_folder(RunOptions& options) {
  if (options.run_id.empty() && options.stage.empty()) {
    return options.out.empty() ? launch::make_run_folder("runs", options.command)
                               : Result<std::string>(options.out);
  }
  if (options.run_id.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--stage {}: of which run? Give it a name of yours by --run-id ID", options.stage);
  }
  if (options.stage.empty()) options.stage = kStages[1];
  if (std::find(kStages.begin(), kStages.end(), options.stage) == kStages.end()) {
    return fail(ErrorCode::kInvalidArgument, "--stage {}: it is one of {}", options.stage,
                fmt::join(kStages, ", "));
  }
  return examine::stage_folder(options.out.empty() ? "runs" : options.out, options.run_id,
                               options.stage);
}

void run(RunOptions& options, CommandContext& context) {
  // Not at the end of a job of hours: what cannot be written then cannot be written now.
  if (const Status writable = check_reports(options); !writable) {
    report_error(context, writable.error());
    context.exit_code = kUsage;
    return;
  }
  auto rates = rates_of(options.costs);
  if (!rates) return report_error(context, rates.error());
  options.rates = *std::move(rates);
  auto emulated = emulated_gpus(options, context);
  if (!emulated) return report_error(context, emulated.error());
  const auto run_dir = make_folder(options);
  if (!run_dir) return report_error(context, run_dir.error());
  launch::Emulation* const gpus = *emulated ? &**emulated : nullptr;
  options.fix ? fix(options, *run_dir, gpus, context) : watch(options, *run_dir, gpus, context);
}

}  // namespace

void add_run_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("run",
                       "run a job unchanged, watch it, and say at the end why the GPU idled\n"
                       "example: unstarve run -- python train.py --epochs 1");
  auto options = std::make_shared<RunOptions>();  // lives as long as the parser's callback
  command.option("--out", options->out, "folder for the run (default: runs/TIME_NAME)");
  const Option run_id = command.option(
      "--run-id", options->run_id,
      "join this run with others of the same id, in runs/ID (with --out: below that folder); "
      "`unstarve report runs/ID` shows them together");
  command.option("--stage", options->stage,
                 "with --run-id, what this command is of it: preprocess, train (default) or infer");
  command.option("--json", options->json, "also write the diagnosis as JSON to this file");
  command.option("--html", options->html, "page to write (default: report.html in the run)");
  command.flag("--verbose", options->verbose, std::string(kVerboseHelp));
  const Option no_live = command.flag("--no-live", options->no_live,
                                      "say nothing before the end: no verdict while the job runs");
  Option live = command.flag(
      "--live", options->live,
      "fill the terminal with curves of the job while it runs, as `unstarve top` does; its output "
      "goes to job_output.log in the run");
  live.excludes(no_live);
  const Option track = command.flag(
      "--track", options->track,
      "log what is seen into the job's own run of W&B, MLflow, Trackio or SwanLab, every ten "
      "seconds (docs/exporting.md)");
  Option fix =
      command.flag("--fix", options->fix,
                   "run the job several times for --trial-seconds each: as it is, then with each "
                   "remedy that needs no change of its code, and compare");
  fix.excludes(run_id);
  fix.excludes(live).excludes(track);
  command
      .flag("--flops", options->flops,
            "count the floating-point operations of one step, the sixth, for the job's place under "
            "this machine's roofs (--verbose, --html; `unstarve roofline` measures them)")
      .excludes(fix);
  command
      .option("--trial-seconds", options->trial_seconds,
              "length of a trial after its first step (with --fix; 0: to the job's end)")
      .between(0, kLongestTrialS)
      .shows_default();
  command
      .option("--budget-minutes", options->budget_minutes,
              "no trial begins after so long (with --fix; default: any time)")
      .between(0.1, kMostMinutes);
  command
      .option(
          "--metrics", options->metrics,
          "offer the run's series to Prometheus while it goes on, at this PORT of this machine, "
          "or at HOST:PORT to whoever reaches it")
      .excludes(fix);
  add_isolation_options(command, options->isolation);
  add_cost_options(command, options->costs);
  command.option("--emulate", options->emulation.gpu,
                 "run the job on this GPU emulated: a profile's name or file, or a "
                 "profiler's trace (default: what " +
                     std::string(kEmulateVariable) + " says)");
  add_emulation_options(command, options->emulation);
  command.option("COMMAND", options->command, "the job, after --").required();
  command.ends_with_words();
  command.when_named([&context, options] { run(*options, context); });
}

}  // namespace unstarve::cli
