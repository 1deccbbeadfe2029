#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/shell_word.h"
#include "cli/commands/commands.h"
#include "cli/console/files.h"
#include "cli/console/live_status.h"
#include "cli/console/terminal.h"
#include "cli/options/emulation_options.h"
#include "cli/options/isolation_options.h"
#include "launch/run_folder.h"
#include "report/tuning/tuning_json.h"
#include "report/tuning/tuning_text.h"
#include "tune/levers/class_argument.h"
#include "tune/tune.h"

namespace unstarve::cli {

namespace {

constexpr double kMostMinutes = 7 * 24 * 60;
constexpr double kMostSeconds = 3600;
constexpr double kMostParitySteps = 1000;

struct Options {
  tune::TuneOptions tune;
  double budget_minutes = 10;
  std::string resume;
  std::string json;
  launch::EmulationOptions emulation{.gpu = {}};  // no GPU named: this machine's
};

/// Says on stderr what a search does.
class ShownSearch final : public tune::SearchListener {
 public:
  explicit ShownSearch(bool emulated) : emulated_(emulated) {}

  void isolated(const isolation::Isolation& by) override { say_isolated(by); }
  void begins(const tune::TrialRequest& request, std::int64_t number) override {
    end_line();
    label_ = fmt::format("trial {} ({})", number, request.label);
  }
  void ended(const tune::TrialRequest& /*request*/, const tune::TrialResult& result) override {
    end_line();
    write_text(Stream::kErr, fmt::format("  {}: {}\n", label_, report::trial_words(result)));
    write_notes(result.remarks);
  }
  void noise(double noise_ratio) override {
    end_line();
    say(report::noise_sentence(noise_ratio));
  }
  void judged(const tune::LeverResult& result) override {
    end_line();
    say(report::lever_sentence(result));
  }
  void watches(const observe::LiveView& view) {
    if (!line_) line_ = std::make_unique<LiveStatus>(clock_, label_ + " ", emulated_);
    line_->update(view);
  }
  void end_line() {
    if (line_) line_->drop();
    line_.reset();
  }

 private:
  bool emulated_;
  SteadyClock clock_;
  std::string label_;
  std::unique_ptr<LiveStatus> line_;  // of the trial that runs
};

/// Where the trials lie; of a search that goes on, where they lay.
Status prepare(Options& options) {
  if (const Status writable = check_writable(options.json); !writable) return writable;
  tune::TuneOptions& asked = options.tune;
  asked.budget_s = 60 * options.budget_minutes;
  asked.resume = !options.resume.empty();
  if (asked.resume) {
    asked.folder = options.resume;
    if (!options.emulation.gpu.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "--emulate goes with a new search; the one in {} goes on as it began",
                  options.resume);
    }
  } else if (asked.command.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "name the job after --, as in: unstarve tune -- python train.py");
  } else if (asked.folder.empty()) {
    auto made = launch::make_run_folder("runs", asked.command);
    if (!made) return forward_error(made);
    asked.folder = *std::move(made);
  }
  asked.folder = std::filesystem::absolute(asked.folder).string();
  return {};
}

Status present(const Options& options, const tune::TuneResult& found) {
  const std::string patch = options.tune.folder + "/tune.patch";
  if (!found.patch.diff.empty()) {
    if (Status kept = write_file(patch, found.patch.diff); !kept) return kept;
  } else {
    std::error_code none;
    std::filesystem::remove(patch, none);  // of a search that went on, and keeps something else
  }
  if (options.json != "-") {
    const report::TextOptions shown = text_options(Stream::kOut);
    write_text(Stream::kOut, report::render_tuning(found, shown) +
                                 report::render_patch(found.patch, patch, shown));
  }
  const std::string json = report::tuning_json(found);
  if (Status kept = write_file(options.tune.folder + "/tune.json", json); !kept) return kept;
  return options.json.empty() ? Status() : write_file(options.json, json);
}

void tune_job(Options& options, CommandContext& context) {
  if (const Status ready = prepare(options); !ready) return report_error(context, ready.error());
  std::optional<launch::Emulation> gpus;
  if (options.tune.resume) {
    auto gpu = tune::emulated_by(options.tune.folder);
    if (!gpu) return report_error(context, gpu.error());
    options.emulation.gpu = *std::move(gpu);
  } else if (options.emulation.gpu.empty()) {
    options.emulation.gpu = emulated_by_default();
  }
  options.tune.gpu = options.emulation.gpu;
  if (!options.emulation.gpu.empty()) {
    auto made = begin_emulation(context, options.emulation, options.tune.command);
    if (!made) return report_error(context, made.error());
    gpus.emplace(*std::move(made));
    options.tune.emulation = &*gpus;
  }
  say(fmt::format("at most {:.1f} min; the job's output goes to {}/trials/*/output.log",
                  options.budget_minutes, options.tune.folder));
  ShownSearch shown(gpus.has_value());
  options.tune.on_tick = [&shown](const trial::Trial&, const observe::LiveView& view) {
    shown.watches(view);
  };
  const auto found = tune::tune(launch::find_installation(context.executable), options.tune, shown);
  shown.end_line();
  if (!found) {
    report_error(context, found.error());
  } else if (const Status all = present(options, *found); !all) {
    report_error(context, all.error());
  } else if (!found->unfinished.empty()) {
    say(fmt::format("unstarve tune --resume {} goes on", shell_word(options.tune.folder)));
  }
}

}  // namespace

void add_tune_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "tune",
      "run a job again and again with levers (threads, BF16, layout, compile, fused optimizer, "
      "its own arguments), and say which make it faster and leave its results what they are\n"
      "example: unstarve tune --budget-minutes 10 -- python train.py");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  tune::TuneOptions& asked = options->tune;
  Option resume = command.option("--resume", options->resume,
                                 "go on with the search in this folder, as it began");
  command.option("--budget-minutes", options->budget_minutes, "no trial begins after so long")
      .between(0.1, kMostMinutes)
      .shows_default();
  command.option("--trial-seconds", asked.trial_seconds, "length of a trial after its first step")
      .between(1, kMostSeconds)
      .shows_default()
      .excludes(resume);
  command
      .option("--parity-steps", asked.parity_steps,
              "steps whose losses are compared, in runs of their own (default: as many as two "
              "trials take, 20 to 200)")
      .between(5, kMostParitySteps)
      .excludes(resume);
  command
      .option("--arg", asked.arguments,
              "NAME=--OPTION of the script that is a lever too: workers=--workers, "
              "batch=--batch-size, accumulation=--accumulate; or, where the script's code has "
              "the value, of a class that it constructs: " +
                  tune::known_class_arguments() + "; may be given for several")
      .excludes(resume);
  command
      .option("--only", asked.only,
              "try these levers, or groups of them, alone, with commas between")
      .separated_by_commas()
      .excludes(resume);
  command
      .option("--allow", asked.allowed,
              "also try levers that download code which runs in the job: hub_kernels")
      .separated_by_commas()
      .excludes(resume);
  command.option("--out", asked.folder, "folder for the trials (default: runs/TIME_NAME)")
      .excludes(resume);
  for (Option& option : add_isolation_options(command, asked.isolation)) option.excludes(resume);
  Option json =
      command.option("--json", options->json, "write JSON to this file (- or nothing: stdout)");
  json.may_lack_value().shows_default("-");
  command.option(
      "--emulate", options->emulation.gpu,
      "run the job on this GPU emulated: nothing that changes numbers is accepted there");
  command.option("COMMAND", asked.command, "the job, after --").excludes(resume);
  command.ends_with_words();
  command.when_named([&context, json, options] {
    if (json.was_given() && options->json.empty()) options->json = "-";
    tune_job(*options, context);
  });
}

}  // namespace unstarve::cli
