#include "gate/gate.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/console/files.h"
#include "cli/console/live_trials.h"
#include "cli/console/terminal.h"
#include "cli/options/cost_options.h"
#include "cli/options/emulation_options.h"
#include "cli/options/isolation_options.h"
#include "launch/run_folder.h"
#include "report/gated/gate_documents.h"
#include "report/gated/gate_text.h"

namespace unstarve::cli {

namespace {

constexpr double kMostGateSeconds = 86'400;
constexpr double kMostGateMinutes = 10'080;
constexpr double kMostGateRuns = 1000;

struct GateCommandOptions {
  gate::GateOptions gate;
  double budget_minutes = 20;
  std::string fail_on;
  std::string emulate;
  launch::EmulationOptions emulation;
  bool accept = false;
  gate::NewBaseline baseline;
  CostOptions cost;
  std::string json;
  std::string junit;
  std::string markdown;
};

class ShownGate final : public LiveTrials<gate::GateListener> {
 public:
  explicit ShownGate(int runs_max) : runs_max_(runs_max) {}
  void isolated(const isolation::Isolation& by) override { say_isolated(by); }
  void judged(const gate::Judgement& judgement, int runs) override {
    std::string open;
    for (const gate::MeasureJudgement& measure : judgement.measures) {
      if (measure.state == gate::MeasureState::kOpen) open += " " + measure.id;
    }
    say(fmt::format("run {} of at most {}: {}", runs, runs_max_,
                    judgement.is_final ? std::string(to_string(judgement.decision))
                                       : "not decided:" + (open.empty() ? " more runs" : open)));
  }

 private:
  int runs_max_;
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  ::localtime_r(&now, &day);
  return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

Status prepare(GateCommandOptions& options) {
  for (const std::string* const path : {&options.json, &options.junit, &options.markdown}) {
    if (const Status writable = check_writable(*path); !writable) return writable;
  }
  if (options.accept && options.baseline.reason.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "--accept makes a baseline that others are judged by: say why with --reason '...'");
  }
  if (options.accept) {
    if (const Status writable = check_writable(options.gate.base); !writable) return writable;
  }
  if (!options.fail_on.empty()) {
    auto limits = compare::parse_limits(options.fail_on);
    if (!limits) return forward_error(limits);
    options.gate.judging.limits = *std::move(limits);
  }
  auto rates = rates_of(options.cost);
  if (!rates) return forward_error(rates);
  options.gate.rates = *std::move(rates);
  options.gate.budget_s = 60 * options.budget_minutes;
  options.baseline.when = today();
  if (options.gate.folder.empty()) {
    auto made = launch::make_run_folder("runs", options.gate.command);
    if (!made) return forward_error(made);
    options.gate.folder = *std::move(made);
  }
  options.gate.folder = std::filesystem::absolute(options.gate.folder).string();
  return {};
}

Status present(const GateCommandOptions& options, const gate::GateResult& result) {
  if (options.json != "-" && options.markdown != "-") {
    write_text(Stream::kOut, report::render_gate(result, text_options(Stream::kOut)));
  }
  const std::pair<const std::string&, std::string> documents[] = {
      {options.json, report::gate_json(result)},
      {options.junit, report::gate_junit(result)},
      {options.markdown, report::gate_markdown(result)}};
  for (const auto& [path, document] : documents) {
    if (path.empty()) continue;
    if (Status written = write_file(path, document); !written) return written;
  }
  return {};
}

int exit_code_of(const gate::GateResult& result) {
  if (!result.compared) return kUsage;
  switch (result.judgement.decision) {
    case gate::Decision::kHolds: return kSuccess;
    case gate::Decision::kRegressed: return kGateFailed;
    case gate::Decision::kUndecided: return kUndecided;
  }
  return kFailed;
}

void accept_baseline(const GateCommandOptions& options, CommandContext& context, ShownGate& shown) {
  const auto baseline = gate::make_baseline(launch::find_installation(context.executable),
                                            options.gate, options.baseline, shown);
  if (!baseline) return report_error(context, baseline.error());
  const Status written = write_file(options.gate.base, gate::baseline_json(*baseline));
  if (!written) return report_error(context, written.error());
  say(fmt::format("{} holds {} runs: `unstarve gate --base {} -- COMMAND` compares with them",
                  options.gate.base, baseline->side.runs.size(), options.gate.base));
}

void run_gate(GateCommandOptions& options, CommandContext& context) {
  if (const Status ready = prepare(options); !ready) return report_error(context, ready.error());
  std::optional<launch::Emulation> emulation;
  if (options.emulate.empty()) options.emulate = emulated_by_default();
  if (!options.emulate.empty()) {
    options.emulation.gpu = options.emulate;
    auto begun = begin_emulation(context, options.emulation, options.gate.command);
    if (!begun) return report_error(context, begun.error());
    emulation.emplace(*std::move(begun));
    options.gate.emulation = &*emulation;
    options.gate.emulated_gpu = options.emulate;
  }
  say(fmt::format("the job's output goes to {}/*/output.log", options.gate.folder));
  ShownGate shown(options.accept ? options.baseline.runs : options.gate.judging.runs_max);
  if (options.accept) return accept_baseline(options, context, shown);
  const auto found = gate::gate(launch::find_installation(context.executable), options.gate, shown);
  if (!found) return report_error(context, found.error());
  if (const Status written = present(options, *found); !written) {
    return report_error(context, written.error());
  }
  context.exit_code = exit_code_of(*found);
}

Option add_judging_options(Command& command, GateCommandOptions& options) {
  command.option(
      "--fail-on", options.fail_on,
      "limits such as 'step_time>5%,au<90%' in place of the usual ones (5 % or points of "
      "what the host, the CPU and the GPU do, and of the step)");
  Option runs = command.option("--runs", options.gate.judging.runs_max,
                               "at most so many runs a side; with --accept so many, else 6");
  runs.between(3, kMostGateRuns).shows_default();
  command
      .option("--seconds", options.gate.seconds,
              "length of a run after its first step; one whose step is known ends before")
      .between(1, kMostGateSeconds)
      .shows_default();
  command.option("--budget-minutes", options.budget_minutes, "no run begins that would end later")
      .between(0.1, kMostGateMinutes)
      .shows_default();
  return runs;
}

}  // namespace

void add_gate_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("gate",
                       "run a job as it is and as it was by turns, and say whether it got worse\n"
                       "example: unstarve gate --base main --emulate a100 -- python train.py\n"
                       "exit codes: 0 holds, 3 regressed, 4 undecided, 2 could not compare");
  auto options = std::make_shared<GateCommandOptions>();  // lives as long as the parser's callback
  command
      .option("--base", options->gate.base,
              "a git reference, or a baseline file that --accept made")
      .required();
  const Option runs = add_judging_options(command, *options);
  command.option("--emulate", options->emulate, "run on this GPU emulated (a100, h100, ...)");
  add_emulation_options(command, options->emulation);
  command.flag("--accept", options->accept,
               "make, or make anew, the baseline file of --base from the job as it is");
  command.option("--reason", options->baseline.reason, "with --accept: why, for whoever reads it");
  command.option("--json", options->json, "also write JSON; - is standard output");
  command.option("--junit", options->junit, "also write JUnit XML, for CI");
  command.option("--markdown", options->markdown, "also write a comment for a pull request");
  command.option("--out", options->gate.folder, "folder for the runs (default: runs/TIME_NAME)");
  add_isolation_options(command, options->gate.isolation);
  add_cost_options(command, options->cost);
  command.option("COMMAND", options->gate.command, "the job, after --").required();
  command.ends_with_words();
  command.when_named([&context, runs, options] {
    if (runs.was_given()) options->baseline.runs = options->gate.judging.runs_max;
    run_gate(*options, context);
  });
}

}  // namespace unstarve::cli
