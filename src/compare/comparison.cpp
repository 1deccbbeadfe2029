#include "compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "compare/run/changed_lines.h"
#include "examine/history/trial_dirs.h"
#include "examine/history/trial_list.h"

namespace unstarve::compare {

namespace {

Runs blocks_of(const Side& side) {
  Runs runs;
  for (const MeasuredRun& run : side.runs) runs.push_back(run.blocks);
  return runs;
}

std::optional<MeasureRow> compare_steps(const Measure& measure, const Runs& a, const Runs& b) {
  MeasureRow row = {measure.id,
                    measure.words,
                    measure.unit,
                    measure.more_is_worse,
                    value_of(measure, all_blocks(a)),
                    value_of(measure, all_blocks(b)),
                    change_between(measure, a, b),
                    noise_of(measure, a, b)};
  if (!row.a && !row.b) return std::nullopt;
  return row;
}

/// Mean over the runs; absent where one lacks it.
Reading<double> whole_value(const Side& side, std::string_view id) {
  double sum = 0;
  for (const MeasuredRun& run : side.runs) {
    const auto found = run.whole.find(std::string(id));
    if (found == run.whole.end()) return WhyAbsent::kNotObserved;
    sum += found->second / static_cast<double>(side.runs.size());
  }
  return sum;
}

std::optional<MeasureRow> compare_whole(const RunMeasure& measure, const Side& a, const Side& b) {
  MeasureRow row = {measure.id,
                    measure.words,
                    measure.unit,
                    measure.more_is_worse,
                    whole_value(a, measure.id),
                    whole_value(b, measure.id),
                    WhyAbsent::kNotObserved,
                    WhyAbsent::kNotObserved};
  if (!row.a && !row.b) return std::nullopt;
  if (row.a && row.b && *row.a > 0) row.change = Change{*row.b / *row.a - 1};
  return row;
}

/// Whether a step of one side is another amount of work than one of the other.
bool steps_differ(const Runs& a, const Runs& b) {
  constexpr double kSame = 0.01;
  const auto samples = [](const Runs& runs) {
    const StepBlock sum = sum_of(all_blocks(runs));
    return sum.of(Amount::kSamples) / std::max(1.0, sum.of(Amount::kSteps));
  };
  const double of_a = samples(a);
  const double of_b = samples(b);
  return of_a > 0 && of_b > 0 && std::abs(of_b / of_a - 1) > kSame;
}

StepCurve curve_of(const MeasuredRun& run, bool of_b, bool by_sample) {
  StepCurve curve;
  curve.of_b = of_b;
  double steps = 0;
  for (const StepBlock& block : run.blocks) {
    const double of = block.of(by_sample ? Amount::kSamples : Amount::kSteps);
    const double wall_s = block.of(by_sample ? Amount::kSampledWall : Amount::kWall);
    const double middle = steps + block.of(Amount::kSteps) / 2;
    steps += block.of(Amount::kSteps);
    if (of <= 0 || wall_s <= 0) continue;
    constexpr double kUs = 1e6;
    curve.points.push_back(
        {middle, kUs * wall_s / of, block.of(Amount::kWaiting) / block.of(Amount::kWall)});
  }
  return curve;
}

/// Findings of `run` that `other` has not.
std::vector<FindingOf> only_in(const MeasuredRun& run, const MeasuredRun& other) {
  std::vector<FindingOf> only;
  for (const diagnose::Finding& finding : run.findings) {
    const bool both = std::any_of(
        other.findings.begin(), other.findings.end(), [&](const diagnose::Finding& theirs) {
          return theirs.cause == finding.cause && theirs.detail == finding.detail;
        });
    if (!both) only.push_back({finding.cause, finding.detail, finding.share});
  }
  return only;
}

Result<MeasuredRun> read_run(const std::string& path, const examine::ReadProgress& progress) {
  const auto examined = examine::examine(path, progress);
  if (!examined) return forward_error(examined);
  return measured_run(*examined, path);
}

Result<Side> read_runs(std::string name, const std::vector<std::string>& paths,
                       const examine::ReadProgress& progress) {
  Side side;
  side.name = std::move(name);
  for (const std::string& path : paths) {
    auto run = read_run(path, progress);
    if (!run) return forward_error(run);
    side.runs.push_back(*std::move(run));
  }
  return side;
}

std::vector<std::string> split(const std::string& paths) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= paths.size();) {
    const std::size_t end = std::min(paths.find(',', from), paths.size());
    if (end > from) parts.push_back(paths.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

/// A comma may be part of a name.
bool is_one_path(const std::string& paths) {
  std::error_code unreadable;
  return paths.find(',') == std::string::npos || std::filesystem::exists(paths, unreadable);
}

}  // namespace

const MeasureRow* Comparison::row(std::string_view id) const {
  const auto found = std::find_if(measures.begin(), measures.end(),
                                  [&](const MeasureRow& measure) { return measure.id == id; });
  return found == measures.end() ? nullptr : &*found;
}

Comparison compare(const Side& a, const Side& b) {
  const Runs of_a = blocks_of(a);
  const Runs of_b = blocks_of(b);
  Comparison found;
  found.a = a.name;
  found.b = b.name;
  found.runs_a = a.runs.size();
  found.runs_b = b.runs.size();
  found.emulated = a.first().emulated || b.first().emulated;
  found.by_sample = steps_differ(of_a, of_b);
  for (const Measure& measure : step_measures()) {
    if (auto row = compare_steps(measure, of_a, of_b)) found.measures.push_back(*row);
  }
  for (const RunMeasure& measure : run_measures()) {
    if (auto row = compare_whole(measure, a, b)) found.measures.push_back(*row);
  }
  const MeasureRow& time = found.time();
  found.parts = part_times(a, b, *time.a, *time.b);
  if (time.change && time.change->is_certain()) found.moved = find_moved(a, b, found.parts);
  for (const Side* const side : {&a, &b}) {
    for (const MeasuredRun& run : side->runs) {
      found.curves.push_back(curve_of(run, side == &b, found.by_sample));
    }
  }
  found.came = only_in(b.first(), a.first());
  found.went = only_in(a.first(), b.first());
  found.differences = differences(a.first().settings, b.first().settings);
  const ScriptText& script_a = a.first().settings.script;
  const ScriptText& script_b = b.first().settings.script;
  if (!script_a.text.empty() && !script_b.text.empty()) {
    found.script_diff = changed_lines(script_a.text, script_b.text);
  }
  return found;
}

Result<Side> read_side(const std::string& paths, const examine::ReadProgress& progress) {
  if (!is_one_path(paths)) {
    const std::vector<std::string> all = split(paths);
    if (all.empty()) return fail(ErrorCode::kInvalidArgument, "'{}' names no run", paths);
    return read_runs(paths, all, progress);
  }
  if (!examine::holds_trials(paths)) return read_runs(name_of(paths), {paths}, progress);
  std::vector<std::string> unchanged = {examine::trial_dir(paths, examine::kBefore)};
  const std::string again = examine::trial_dir(paths, "before.again");
  if (examine::holds_run(again)) unchanged.push_back(again);
  return read_runs(name_of(paths) + "/before", unchanged, progress);
}

Result<Side> read_kept(const std::string& folder, const examine::ReadProgress& progress) {
  std::string kept;
  for (const examine::ListedTrial& trial : examine::read_trial_list(folder)) {
    if (trial.outcome == "kept") kept = trial.run.empty() ? trial.remedy : trial.run;
  }
  if (kept.empty()) {
    return fail(ErrorCode::kNotFound,
                "{} keeps no change that could be compared with the job as it was: name a second "
                "run",
                folder);
  }
  return read_runs(name_of(folder) + "/" + kept, {examine::trial_dir(folder, kept)}, progress);
}

}  // namespace unstarve::compare
