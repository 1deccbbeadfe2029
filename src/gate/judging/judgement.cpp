#include "gate/judging/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gate/judging/sequential.h"
#include "gate/judging/student.h"

namespace unstarve::gate {

namespace {

using compare::Limit;
using compare::Unit;

/// How one measure is judged.
struct Gated {
  std::string id;
  std::string words;  // of its limit
  bool asked = false;
  bool absolute = false;   // of b's values alone
  bool by_points = false;  // shares: their difference; else the logarithm of their ratio
  double worse = 1;        // 1: more is worse; -1: less is
  double limit = 0;        // a change beyond it must be caught
  double no_change = 0;    // more than it has to be certain
  double tolerance = 0;    // a mean up to it is no change, however certain
};

/// What holds still from run to run comes first, the time by the clock last.
constexpr std::array<const char*, 6> kUsual = {"host_ms_per_step", "cpu_ms_per_sample",
                                               "cpu_ms_per_step",  "input_wait",
                                               "gpu_ms_per_step",  "step_time"};
constexpr double kUsualLimit = 0.05;
constexpr double kUsualTolerance = 0.01;
constexpr double kUsualPoints = 0.05;

const compare::Measure& measure_of(const std::string& id) { return *compare::measure_named(id); }

bool all_have(const std::vector<RunValues>& runs, const std::string& id) {
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), [&](const RunValues& run) {
    return run.find(id) != run.end();
  });
}

std::vector<double> values_of(const std::vector<RunValues>& runs, const std::string& id) {
  std::vector<double> values;
  for (const RunValues& run : runs) values.push_back(run.at(id));
  return values;
}

Gated usual(const std::string& id) {
  Gated gated;
  gated.id = id;
  gated.by_points = measure_of(id).unit == Unit::kRatio;
  gated.worse = measure_of(id).more_is_worse ? 1 : -1;
  gated.limit = gated.by_points ? kUsualPoints : std::log1p(kUsualLimit);
  gated.tolerance = std::log1p(kUsualTolerance);
  gated.words = gated.by_points ? "5 points" : "5 %";
  return gated;
}

Gated asked(const Limit& limit) {
  Gated gated;
  gated.id = limit.measure;
  gated.words = limit.text;
  gated.asked = true;
  gated.absolute = !limit.relative;
  gated.worse = limit.above ? 1 : -1;
  gated.limit = gated.absolute ? gated.worse * limit.value
                               : std::log1p(std::max(limit.value, -0.99)) * gated.worse;
  gated.no_change = gated.tolerance = gated.limit;
  return gated;
}

/// The usual measures that both sides have; without samples CPU time is by step.
std::vector<Gated> usual_ones(const std::vector<RunValues>& a, const std::vector<RunValues>& b) {
  std::vector<Gated> all;
  bool by_sample = false;
  for (const char* const id : kUsual) {
    if (!all_have(a, id) || !all_have(b, id)) continue;
    if (id == std::string_view("cpu_ms_per_sample")) by_sample = true;
    if (id == std::string_view("cpu_ms_per_step") && by_sample) continue;
    all.push_back(usual(id));
  }
  return all;
}

double scaled(const Gated& gated, double value) {
  if (gated.absolute || gated.by_points) return gated.worse * value;
  constexpr double kLeast = 1e-12;
  return gated.worse * std::log(std::max(value, kLeast));
}

std::vector<double> scaled(const Gated& gated, std::vector<double> values) {
  for (double& value : values) value = scaled(gated, value);
  return values;
}

/// Of one value: that by which the trimmed mean of many gets its error.
double deviation(const std::vector<double>& values) {
  return trimmed_mean(values).error * std::sqrt(static_cast<double>(values.size()));
}

std::vector<double> less(std::vector<double> values, double what) {
  for (double& value : values) value -= what;
  return values;
}

std::vector<double> negated(std::vector<double> values) {
  for (double& value : values) value = -value;
  return values;
}

/// How likely values like these are where nothing changed, and where it changed by the limit.
void weigh(const Gated& gated, const std::vector<double>& a, const std::vector<double>& b,
           const JudgingOptions& options, MeasureJudgement& judged) {
  if (gated.absolute) {
    judged.change = trimmed_mean(b).mean;
    judged.noise = deviation(b);
    judged.p_worse = p_above_zero(less(b, gated.no_change));
    judged.p_fine = p_above_zero(negated(less(b, gated.limit)));
    return;
  }
  judged.change = trimmed_mean(b).mean - trimmed_mean(a).mean;
  if (options.paired) {
    std::vector<double> changes;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) changes.push_back(b[i] - a[i]);
    judged.change = trimmed_mean(changes).mean;
    judged.noise = deviation(changes);
    judged.p_worse = p_above_zero(less(changes, gated.no_change));
    judged.p_fine = p_above_zero(negated(less(changes, gated.limit)));
    judged.p_better = p_above_zero(less(negated(changes), gated.tolerance));
    return;
  }
  judged.noise = std::max(deviation(a), deviation(b));
  judged.p_worse = p_of_difference(a, less(b, gated.no_change));
  judged.p_fine = p_of_difference(negated(a), negated(less(b, gated.limit)));
  judged.p_better = p_of_difference(negated(a), less(negated(b), gated.tolerance));
}

/// By which p-values a look decides, and the effects, in standard deviations of one value, of which
/// all runs tell in four of five cases.
struct Needed {
  std::vector<double> p_worse;  // of the only measure, of two, of three, ...
  double p_fine = 0;
  double effect_worse = 0;
  double effect_fine = 0;
};

/// What is known at each look, from the first that may decide to the last: the number of values, or
/// what stands for it where one side's are there from the start.
std::vector<double> information_of(std::size_t of_a, const JudgingOptions& options) {
  std::vector<double> information;
  const auto fixed = static_cast<double>(of_a);
  for (int runs = std::min(options.runs_min, options.runs_max); runs <= options.runs_max; ++runs) {
    information.push_back(options.paired ? runs : fixed * runs / (fixed + runs));
  }
  return information;
}

Needed needed_of(std::size_t measures, std::size_t of_a, std::size_t of_b,
                 const JudgingOptions& options) {
  constexpr double kPower80 = 0.8416;  // quantile of the normal distribution
  const std::vector<double> information = information_of(of_a, options);
  const auto first = static_cast<std::size_t>(std::min(options.runs_min, options.runs_max));
  const std::size_t look = std::min(of_b - std::min(of_b, first), information.size() - 1);
  const double last = information.back();
  const auto freedom_of = [](std::size_t runs) { return static_cast<double>(kept_of(runs)) - 1; };
  const double of_last = freedom_of(static_cast<std::size_t>(options.runs_max));
  const double freedom = options.paired ? of_last : freedom_of(of_a) + of_last;
  const auto effect = [&](double level) {
    return freedom < 1 ? INFINITY : (student_bound(level, freedom) + kPower80) / std::sqrt(last);
  };
  Needed needed;
  std::vector<double> worse;
  for (std::size_t shared_by = 1; shared_by <= measures; ++shared_by) {
    const double rate = options.false_alarm_rate / static_cast<double>(shared_by);
    worse = sequential_levels(information, rate);
    needed.p_worse.push_back(worse[look]);
  }
  const std::vector<double> fine = sequential_levels(information, options.missed_rate);
  needed.p_fine = fine[look];
  needed.effect_worse = effect(worse.back());
  needed.effect_fine = effect(fine.back());
  return needed;
}

/// Those of p-values that are small enough beside all of them: where k are as small as the k-th
/// smallest may be, as many as that. Measures move together, and their rate of false alarms is that
/// of one. Hochberg: "A sharper Bonferroni procedure for multiple tests of significance" (1988).
double largest_that_decides(std::vector<double> p, const Needed& needed) {
  std::sort(p.begin(), p.end());
  for (std::size_t i = p.size(); i-- > 0;) {
    if (p[i] <= needed.p_worse[p.size() - 1 - i]) return p[i];
  }
  return -1;  // none does
}

bool are_enough(const std::vector<RunValues>& a, const std::vector<RunValues>& b,
                const JudgingOptions& options) {
  return static_cast<int>(std::min(a.size(), b.size())) >= options.runs_min ||
         (!options.paired && static_cast<int>(b.size()) >= options.runs_min);
}

MeasureJudgement judge_one(const Gated& gated, const std::vector<RunValues>& a,
                           const std::vector<RunValues>& b, const JudgingOptions& options,
                           const Needed& needed) {
  MeasureJudgement judged;
  judged.id = gated.id;
  judged.limit = gated.words;
  judged.asked = gated.asked;
  const std::vector<double> of_a = values_of(a, gated.id);
  const std::vector<double> of_b = values_of(b, gated.id);
  judged.a_runs = of_a;
  judged.b_runs = of_b;
  judged.a = trimmed_mean(of_a).mean;
  judged.b = trimmed_mean(of_b).mean;
  weigh(gated, scaled(gated, of_a), scaled(gated, of_b), options, judged);
  judged.detectable =
      std::max(gated.no_change + judged.noise * needed.effect_worse, gated.tolerance);
  if (!are_enough(a, b, options)) return judged;
  if (judged.p_fine <= needed.p_fine) judged.state = MeasureState::kHolds;
  return judged;
}

/// Whether nothing is to be expected of it: all runs that there may be would not tell of a change
/// by the limit, or there are no more, and it does not look as if it had changed.
bool gives_up(const Gated& gated, const MeasureJudgement& judged, const Needed& needed,
              std::size_t runs, bool spent) {
  constexpr std::size_t kTellsNoise = 5;
  constexpr double kLooksChanged = 0.02;
  if (judged.state != MeasureState::kOpen || gated.asked) return false;
  if (judged.p_worse <= kLooksChanged) return false;
  return spent || (runs >= kTellsNoise && judged.noise * needed.effect_fine > gated.limit);
}

/// Whether the time by the clock got better: what is used more then was a choice.
double p_of_faster_steps(const std::vector<MeasureJudgement>& measures) {
  for (const MeasureJudgement& one : measures) {
    if (one.id == "step_time") return one.p_better;
  }
  return 1;
}

/// A change for the worse that is certain and no smaller than matters.
void find_regressed(const std::vector<Gated>& gated, const Needed& needed,
                    std::vector<MeasureJudgement>& measures) {
  std::vector<double> p;
  for (const MeasureJudgement& one : measures) p.push_back(one.p_worse);
  const double largest = largest_that_decides(std::move(p), needed);
  for (std::size_t i = 0; i < measures.size(); ++i) {
    const bool certain = measures[i].p_worse <= largest;
    if (certain && measures[i].change > gated[i].tolerance) {
      measures[i].state = MeasureState::kRegressed;
    }
  }
}

void trade(std::vector<MeasureJudgement>& measures) {
  for (MeasureJudgement& one : measures) {
    if (one.state == MeasureState::kRegressed) one.state = MeasureState::kTraded;
  }
}

bool any_is(const std::vector<MeasureJudgement>& measures, MeasureState state) {
  return std::any_of(measures.begin(), measures.end(),
                     [&](const MeasureJudgement& one) { return one.state == state; });
}

}  // namespace

Judgement judge(const std::vector<RunValues>& a, const std::vector<RunValues>& b,
                const JudgingOptions& options, bool spent) {
  Judgement found;
  std::vector<Gated> gated;
  for (const Limit& limit : options.limits) {
    const bool known =
        all_have(b, limit.measure) && (!limit.relative || all_have(a, limit.measure));
    if (known) {
      gated.push_back(asked(limit));
    } else {
      found.absent.push_back(limit.measure);
    }
  }
  if (options.limits.empty()) gated = usual_ones(a, b);
  if (gated.empty()) {
    found.is_final = true;
    return found;
  }
  const Needed needed = needed_of(gated.size(), a.size(), b.size(), options);
  for (const Gated& one : gated) found.measures.push_back(judge_one(one, a, b, options, needed));
  if (are_enough(a, b, options)) find_regressed(gated, needed, found.measures);
  const std::size_t runs = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < gated.size(); ++i) {
    if (gives_up(gated[i], found.measures[i], needed, runs, spent)) {
      found.measures[i].state = MeasureState::kAbstains;
    }
  }
  const double faster = options.limits.empty() ? p_of_faster_steps(found.measures) : 1;
  if (faster <= needed.p_worse.back()) trade(found.measures);
  if (any_is(found.measures, MeasureState::kRegressed)) {
    // It looks like a trade: more runs tell.
    constexpr double kLooksFaster = 0.1;
    if (faster <= kLooksFaster && !spent) return found;
    found.decision = Decision::kRegressed;
    found.is_final = true;
    return found;
  }
  const auto holding =
      std::count_if(found.measures.begin(), found.measures.end(),
                    [](const MeasureJudgement& one) { return one.state == MeasureState::kHolds; });
  const bool settled = !any_is(found.measures, MeasureState::kOpen);
  // One measure that holds beside four that say nothing is no answer.
  if (settled && 2 * static_cast<std::size_t>(holding) >= found.measures.size() &&
      found.absent.empty()) {
    found.decision = Decision::kHolds;
    found.is_final = true;
  }
  found.is_final = found.is_final || spent;
  return found;
}

std::string_view to_string(Decision decision) {
  switch (decision) {
    case Decision::kHolds: return "holds";
    case Decision::kRegressed: return "regressed";
    case Decision::kUndecided: return "undecided";
  }
  return "";
}

std::string_view to_string(MeasureState state) {
  switch (state) {
    case MeasureState::kRegressed: return "regressed";
    case MeasureState::kHolds: return "holds";
    case MeasureState::kTraded: return "traded";
    case MeasureState::kOpen: return "open";
    case MeasureState::kAbstains: return "abstains";
  }
  return "";
}

}  // namespace unstarve::gate
