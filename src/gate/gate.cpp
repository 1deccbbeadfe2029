#include "gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "compare/run/measured_run.h"
#include "gate/base_state/worktree.h"

namespace unstarve::gate {

namespace {

namespace fs = std::filesystem;

/// This process's working folder for a while, which is what a job starts in.
class InFolder {
 public:
  explicit InFolder(const std::string& folder) {
    if (folder.empty()) return;
    std::error_code error;
    before_ = fs::current_path(error);
    if (!error) fs::current_path(folder, error);
  }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;
  ~InFolder() {
    std::error_code error;
    if (!before_.empty()) fs::current_path(before_, error);
  }

 private:
  fs::path before_;
};

RunValues values_of(const compare::MeasuredRun& run) {
  RunValues values(run.whole.begin(), run.whole.end());
  for (const compare::Measure& measure : compare::step_measures()) {
    if (const Reading<double> value = compare::value_of(measure, run.blocks)) {
      values.emplace(measure.id, *value);
    }
  }
  return values;
}

std::vector<RunValues> values_of(const compare::Side& side) {
  std::vector<RunValues> values;
  for (const compare::MeasuredRun& run : side.runs) values.push_back(values_of(run));
  return values;
}

/// Runs of one job in one folder after the other.
class Runs {
 public:
  Runs(const launch::Installation& parts, const GateOptions& options,
       const isolation::Isolation& isolation, GateListener& listener)
      : parts_(parts), options_(options), isolation_(isolation), listener_(listener) {}

  /// `base`: null for the present state. Its steps only bring caches into their usual state.
  Status warm_up(const std::string& side, const Worktree* base) {
    constexpr std::int64_t kSteps = 4;
    const auto run = make(side + "-warm-up", base, kSteps);
    if (!run && run.error().code != ErrorCode::kNotSupported) return forward_error(run);
    return {};
  }

  Status add_to(compare::Side& side, const std::string& label, const Worktree* base) {
    const std::string name = fmt::format("{}-{}", label, side.runs.size() + 1);
    const auto examined = make(name, base, 0);
    if (!examined) return forward_error(examined);
    auto run = compare::measured_run(*examined, folder_of(name));
    if (!run) return forward_error(run);
    side.runs.push_back(*std::move(run));
    return {};
  }

  /// Whether another round as long as the longest so far may begin.
  bool has_time() const {
    return options_.budget_s <= 0 || elapsed_s() + longest_s_ <= options_.budget_s;
  }
  void round_begins() { round_began_s_ = elapsed_s(); }
  void round_ends() { longest_s_ = std::max(longest_s_, elapsed_s() - round_began_s_); }

 private:
  std::string folder_of(const std::string& name) const { return options_.folder + "/" + name; }
  double elapsed_s() const {
    return static_cast<double>(clock_.now_ns() - began_ns_) * kSecondsPerNs;
  }

  Result<examine::Examination> make(const std::string& name, const Worktree* base,
                                    std::int64_t steps) {
    const InFolder there(base != nullptr ? base->job_folder() : std::string());
    trial::Trial trial;
    trial.label = name;
    trial.command = base != nullptr ? base->command_there(options_.command) : options_.command;
    trial.run_dir = folder_of(name);
    trial.emulation = options_.emulation;
    trial.isolation = &isolation_;
    trial.length.seconds = options_.seconds;
    trial.length.steps = steps;
    trial.length.until_known = true;
    listener_.begins(name, steps > 0 ? "some steps that do not count" : "");
    return trial::run_trial(parts_, trial, listener_);
  }

  const launch::Installation& parts_;
  const GateOptions& options_;
  const isolation::Isolation& isolation_;
  GateListener& listener_;
  const SteadyClock clock_;
  const std::int64_t began_ns_ = clock_.now_ns();
  double round_began_s_ = 0;
  double longest_s_ = 0;
};

/// What was compared with what: settings of the machine that make figures incomparable.
std::vector<std::string> unlike_machines(const compare::Side& a, const compare::Side& b) {
  std::vector<std::string> unlike;
  for (const compare::Difference& difference :
       compare::differences(a.first().settings, b.first().settings)) {
    const bool same_work = difference.name == "kernel" || difference.name == "host";
    if (difference.group != compare::SettingGroup::kMachine || same_work) continue;
    unlike.push_back(fmt::format("{}: {} -> {}", difference.name, difference.a, difference.b));
  }
  return unlike;
}

Result<isolation::Isolation> isolation_of(const GateOptions& options, GateListener& listener) {
  auto isolation = isolation::Isolation::choose(options.command, options.folder, options.isolation);
  if (isolation) listener.isolated(*isolation);
  return isolation;
}

/// A measure may certainly be worse though the time of a step is not: the part of a step that it is
/// about is named then.
void name_what_moved(const compare::Side& a, const compare::Side& b, GateResult& found) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPartOf = {
      {{"gpu_ms_per_step", "gpu_compute"},
       {"input_wait", "input_wait"},
       {"cpu_ms_per_sample", "input_wait"}}};
  if (found.judgement.decision != Decision::kRegressed) return;
  for (const MeasureJudgement& measure : found.judgement.measures) {
    for (const auto& [id, part] : kPartOf) {
      if (found.comparison.moved) return;
      if (measure.id != id || measure.state != MeasureState::kRegressed) continue;
      found.comparison.moved = compare::grown_part(a, b, found.comparison.parts, part);
    }
  }
}

constexpr const char* kBase = "base";
constexpr const char* kNow = "now";

Result<GateResult> against_reference(Runs& runs, const GateOptions& options,
                                     GateListener& listener) {
  std::error_code error;
  auto base = Worktree::check_out(options.base, fs::current_path(error).string());
  if (!base) return forward_error(base);
  compare::Side a, b;
  a.name = fmt::format("{} ({})", options.base, base->commit());
  b.name = kNow;
  if (const Status warm = runs.warm_up(kBase, &*base); !warm) return forward_error(warm);
  if (const Status warm = runs.warm_up(kNow, nullptr); !warm) return forward_error(warm);
  GateResult found;
  found.base = a.name;
  for (int round = 0; !found.judgement.is_final; ++round) {
    runs.round_begins();
    // Whatever drifts hits both sides alike: every other pair begins with the other side.
    for (const bool is_base : {round % 2 == 0, round % 2 != 0}) {
      const Status ran = is_base ? runs.add_to(a, kBase, &*base) : runs.add_to(b, kNow, nullptr);
      if (!ran) return forward_error(ran);
    }
    runs.round_ends();
    found.budget_spent = !runs.has_time();
    const bool spent = found.budget_spent || round + 1 >= options.judging.runs_max;
    found.judgement = judge(values_of(a), values_of(b), options.judging, spent);
    listener.judged(found.judgement, round + 1);
  }
  found.comparison = compare::compare(a, b);
  found.comparison.cost = compare::work_cost(a, b, options.rates);
  name_what_moved(a, b, found);
  found.judging = options.judging;
  return found;
}

Result<GateResult> against_baseline(Runs& runs, const Baseline& baseline,
                                    const GateOptions& options, GateListener& listener) {
  compare::Side b;
  b.name = kNow;
  if (const Status warm = runs.warm_up(kNow, nullptr); !warm) return forward_error(warm);
  GateResult found;
  found.judging = options.judging;
  found.judging.paired = false;
  found.base = fmt::format(
      "{} of {}", baseline.side.name,
      baseline.acceptances.empty() ? "an unknown day" : baseline.acceptances.back().when);
  for (int round = 0; !found.judgement.is_final; ++round) {
    runs.round_begins();
    if (const Status ran = runs.add_to(b, kNow, nullptr); !ran) return forward_error(ran);
    runs.round_ends();
    found.unlike = unlike_machines(baseline.side, b);
    if (baseline.emulated_gpu != options.emulated_gpu) {
      found.unlike.push_back(
          fmt::format("emulated GPU: '{}' -> '{}'", baseline.emulated_gpu, options.emulated_gpu));
    }
    found.compared = found.unlike.empty();
    if (!found.compared) break;
    found.budget_spent = !runs.has_time();
    const bool spent = found.budget_spent || round + 1 >= options.judging.runs_max;
    found.judgement = judge(values_of(baseline.side), values_of(b), found.judging, spent);
    listener.judged(found.judgement, round + 1);
  }
  found.comparison = compare::compare(baseline.side, b);
  name_what_moved(baseline.side, b, found);
  return found;
}

}  // namespace

Result<GateResult> gate(const launch::Installation& parts, const GateOptions& options,
                        GateListener& listener) {
  std::optional<Baseline> baseline;
  if (is_baseline(options.base)) {
    auto read = read_baseline(options.base);
    if (!read) return forward_error(read);
    baseline = *std::move(read);
  }
  const auto isolation = isolation_of(options, listener);
  if (!isolation) return forward_error(isolation);
  Runs runs(parts, options, *isolation, listener);
  return baseline ? against_baseline(runs, *baseline, options, listener)
                  : against_reference(runs, options, listener);
}

Result<Baseline> make_baseline(const launch::Installation& parts, const GateOptions& options,
                               const NewBaseline& wish, GateListener& listener) {
  Baseline made;
  if (is_baseline(options.base)) {
    const auto before = read_baseline(options.base);
    if (!before) return forward_error(before);
    made.acceptances = before->acceptances;
  }
  const auto isolation = isolation_of(options, listener);
  if (!isolation) return forward_error(isolation);
  Runs runs(parts, options, *isolation, listener);
  if (const Status warm = runs.warm_up(kNow, nullptr); !warm) return forward_error(warm);
  for (int i = 0; i < wish.runs; ++i) {
    if (const Status ran = runs.add_to(made.side, kNow, nullptr); !ran) return forward_error(ran);
  }
  made.emulated_gpu = options.emulated_gpu;
  double step_us = 0;
  for (const compare::MeasuredRun& run : made.side.runs) {
    step_us += compare::value_of(*compare::measure_named("step_time"), run.blocks).value_or(0) /
               static_cast<double>(made.side.runs.size());
  }
  made.acceptances.push_back({wish.when, wish.reason, step_us});
  return made;
}

}  // namespace unstarve::gate
