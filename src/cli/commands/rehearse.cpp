#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/console/files.h"
#include "cli/console/live_trials.h"
#include "cli/console/terminal.h"
#include "cli/options/emulation_options.h"
#include "cli/options/isolation_options.h"
#include "emulated/engine/operation.h"
#include "launch/run_folder.h"
#include "rehearse/rehearsal.h"
#include "report/rehearsal/rehearsal_json.h"
#include "report/rehearsal/rehearsal_text.h"

namespace unstarve::cli {

namespace {

constexpr double kMostSeconds = 86'400;
constexpr double kMostSteps = 1e6;

struct RehearseOptions {
  rehearse::RehearsalOptions rehearsal;
  std::vector<std::string> step_times;  // "h100=0.18"
  std::string fail_under;               // "au=90"
  double target = 90;
  std::string json;
};

/// Says on stderr what a rehearsal does.
class ShownRehearsal final : public LiveTrials<trial::TrialListener> {
 public:
  void isolated(const isolation::Isolation& by) override { say_isolated(by); }
  void begins(const std::string& label, const std::string& description) override {
    say(fmt::format("{}: {}", label, description));
  }
};

/// "NAME=NUMBER", a number above 0.
Result<std::pair<std::string, double>> named_number(const std::string& text,
                                                    const std::string& option) {
  const std::size_t equals = text.rfind('=');
  double value = 0;
  if (equals != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + equals + 1, end, value);
    if (read.ec == std::errc() && read.ptr == end && value > 0) {
      return std::pair(text.substr(0, equals), value);
    }
  }
  return fail(ErrorCode::kInvalidArgument, "{} takes NAME=NUMBER, and got '{}'", option, text);
}

/// The AU (0..1) under whose lower bound the command fails; nothing: none was named.
Result<std::optional<double>> gate_of(const RehearseOptions& options) {
  if (options.fail_under.empty()) return std::optional<double>();
  const auto gate = named_number(options.fail_under, "--fail-under");
  if (!gate) return forward_error(gate);
  if (gate->first != "au" || gate->second > 100) {
    return fail(ErrorCode::kInvalidArgument, "--fail-under takes au=PERCENT, and got '{}'",
                options.fail_under);
  }
  return std::optional<double>(gate->second / 100);
}

Status prepare(RehearseOptions& options) {
  if (const Status writable = check_writable(options.json); !writable) return writable;
  rehearse::RehearsalOptions& asked = options.rehearsal;
  asked.target_au = options.target / 100;
  if (asked.kinds.size() > emulated::kPricesMax) {
    return fail(ErrorCode::kInvalidArgument, "--gpu-kinds takes at most {} kinds",
                emulated::kPricesMax);
  }
  for (const std::string& text : options.step_times) {
    const auto known = named_number(text, "--step-time");
    if (!known) return forward_error(known);
    const auto& kinds = asked.kinds;
    if (std::find(kinds.begin(), kinds.end(), known->first) == kinds.end()) {
      return fail(ErrorCode::kInvalidArgument, "--step-time names {}, which is not among the kinds",
                  known->first);
    }
    asked.step_s[known->first] = known->second;
  }
  std::sort(asked.gpus.begin(), asked.gpus.end());
  if (asked.folder.empty()) {
    auto made = launch::make_run_folder("runs", asked.command);
    if (!made) return forward_error(made);
    asked.folder = *std::move(made);
  }
  asked.folder = std::filesystem::absolute(asked.folder).string();
  return {};
}

/// Which cells miss the gate; says so.
bool misses(const rehearse::Rehearsal& rehearsal, double gate) {
  bool missed = false;
  for (const rehearse::RehearsedCell& cell : rehearsal.cells) {
    if (cell.forecast.au.low >= gate) continue;
    missed = true;
    say(fmt::format("{} x {}: the AU may be as low as {:.1f} %, {:.1f} % were asked for", cell.gpus,
                    rehearsal.kinds[cell.kind].name, 100 * cell.forecast.au.low, 100 * gate));
  }
  return missed;
}

Status present(const RehearseOptions& options, const rehearse::Rehearsal& rehearsal) {
  if (options.json != "-") {
    write_text(Stream::kOut, report::render_rehearsal(rehearsal, text_options(Stream::kOut)));
  }
  if (options.json.empty()) return {};
  return write_file(options.json, report::rehearsal_json(rehearsal));
}

void rehearse(RehearseOptions& options, CommandContext& context) {
  const auto gate = gate_of(options);
  if (!gate) return report_error(context, gate.error());
  if (const Status ready = prepare(options); !ready) return report_error(context, ready.error());
  say(fmt::format("the job runs for at most {:.0f} s or {} steps; its output goes to {}/output.log",
                  options.rehearsal.seconds, options.rehearsal.steps, options.rehearsal.folder));
  ShownRehearsal shown;
  const auto done =
      rehearse::rehearse(launch::find_installation(context.executable), options.rehearsal, shown);
  if (!done) {
    report_error(context, done.error());
  } else if (const Status shown_all = present(options, *done); !shown_all) {
    report_error(context, shown_all.error());
  } else if (*gate && misses(*done, **gate)) {
    context.exit_code = kGateFailed;
  }
}

void add_bounds(Command& command, RehearseOptions& options) {
  command.option("--seconds", options.rehearsal.seconds, "length of the run after its first step")
      .between(1, kMostSeconds)
      .shows_default();
  command.option("--steps", options.rehearsal.steps, "the run ends after so many steps")
      .between(10, kMostSteps)
      .shows_default();
  command.option("--out", options.rehearsal.folder, "folder for the run (default: runs/TIME_NAME)");
}

void add_durations(Command& command, RehearseOptions& options) {
  command.option("--step-time", options.step_times,
                 "KIND=SECONDS that a step's work takes on a real GPU of that kind; may be given "
                 "for several");
  launch::EmulationOptions& emulation = options.rehearsal.emulation;
  command.option("--durations", emulation.durations,
                 "a profiler's trace of a job on a real GPU, whose durations are used");
  command.option("--scale", emulation.scale, "stretches every modelled duration by this factor")
      .between(0.001, 1000);
}

}  // namespace

void add_rehearse_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("rehearse",
                       "run a job for a moment on an emulated GPU, and say which GPUs this "
                       "machine's pipeline feeds\n"
                       "example: unstarve rehearse --gpu-kinds a100,h100 -- python train.py");
  auto options = std::make_shared<RehearseOptions>();  // lives as long as the parser's callback
  rehearse::RehearsalOptions& asked = options->rehearsal;
  asked.kinds = {"a100", "h100", "l4", "t4", "rtx4090"};
  asked.gpus = {1, 2, 4, 8};
  command
      .option("--gpu-kinds,--gpus-kinds", asked.kinds,
              "profiles by name or file, with commas between; the job runs on the first")
      .separated_by_commas()
      .shows_default();
  command.option("--gpus", asked.gpus, "how many of them, with commas between")
      .separated_by_commas()
      .between(1, kMostGpus)
      .shows_default();
  command.option("--target", options->target, "the AU that cores are computed for, in percent")
      .between(1, 99.9)
      .shows_default();
  command
      .option("--cores", asked.cores,
              "compute for a machine with so many cores like this one's (default: this one)")
      .between(0.1, 4096);
  command.option("--fail-under", options->fail_under,
                 "au=PERCENT: exit with 3 where the lower bound of any AU is below");
  add_durations(command, *options);
  Option json =
      command.option("--json", options->json, "write JSON to this file (- or nothing: stdout)");
  json.may_lack_value().shows_default("-");
  add_bounds(command, *options);
  add_isolation_options(command, asked.isolation);
  command.option("COMMAND", asked.command, "the job, after --").required();
  command.ends_with_words();
  command.when_named([&context, json, options] {
    if (json.was_given() && options->json.empty()) options->json = "-";
    rehearse(*options, context);
  });
}

}  // namespace unstarve::cli
