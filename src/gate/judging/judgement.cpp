#include "gate/judging/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/statistics.h"
#include "gate/judging/evidence.h"

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
  double tolerance = 0;    // one up to it is none
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
  gated.tolerance = gated.limit;
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

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  return std::sqrt(squares_around_mean(values) / static_cast<double>(values.size() - 1));
}

std::vector<double> less(std::vector<double> values, double what) {
  for (double& value : values) value -= what;
  return values;
}

std::vector<double> negated(std::vector<double> values) {
  for (double& value : values) value = -value;
  return values;
}

/// Evidence that the change is above the tolerance, and that it is below the limit.
void weigh(const Gated& gated, const std::vector<double>& a, const std::vector<double>& b,
           const JudgingOptions& options, MeasureJudgement& judged) {
  if (gated.absolute) {
    judged.change = mean(b);
    judged.noise = deviation(b);
    judged.evidence_worse = evidence_above_zero(less(b, gated.tolerance));
    judged.evidence_fine = evidence_above_zero(negated(less(b, gated.limit)));
    return;
  }
  judged.change = mean(b) - mean(a);
  if (options.paired) {
    std::vector<double> changes;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) changes.push_back(b[i] - a[i]);
    judged.change = mean(changes);
    judged.noise = deviation(changes);
    judged.evidence_worse = evidence_above_zero(less(changes, gated.tolerance));
    judged.evidence_fine = evidence_above_zero(negated(less(changes, gated.limit)));
    judged.evidence_better = evidence_above_zero(less(negated(changes), gated.tolerance));
    return;
  }
  judged.noise = std::max(deviation(a), deviation(b));
  judged.evidence_worse = evidence_of_difference(a, less(b, gated.tolerance));
  judged.evidence_fine = evidence_of_difference(negated(a), negated(less(b, gated.limit)));
  judged.evidence_better = evidence_of_difference(negated(a), less(negated(b), gated.tolerance));
}

/// Evidence that decides, and the effects that all runs would give so much evidence of.
struct Needed {
  double worse = 0;
  double fine = 0;
  double effect_worse = 0;
  double effect_fine = 0;
};

Needed needed_of(std::size_t measures, const JudgingOptions& options) {
  Needed needed;
  needed.worse = static_cast<double>(measures) / options.false_alarm_rate;
  needed.fine = 1 / options.missed_rate;
  needed.effect_worse = detectable_effect(options.runs_max, needed.worse);
  needed.effect_fine = detectable_effect(options.runs_max, needed.fine);
  return needed;
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
  judged.a = mean(of_a);
  judged.b = mean(of_b);
  weigh(gated, scaled(gated, of_a), scaled(gated, of_b), options, judged);
  judged.detectable = gated.tolerance + judged.noise * needed.effect_worse;
  const bool enough = static_cast<int>(std::min(a.size(), b.size())) >= options.runs_min ||
                      (!options.paired && static_cast<int>(b.size()) >= options.runs_min);
  if (!enough) return judged;
  if (judged.evidence_worse >= needed.worse) {
    judged.state = MeasureState::kRegressed;
  } else if (judged.evidence_fine >= needed.fine) {
    judged.state = MeasureState::kHolds;
  }
  return judged;
}

/// Whether nothing is to be expected of it: all runs that there may be would not tell of a change
/// by the limit, or there are no more, and it does not look as if it had changed.
bool gives_up(const Gated& gated, const MeasureJudgement& judged, const Needed& needed,
              std::size_t runs, bool spent) {
  constexpr std::size_t kTellsNoise = 5;
  constexpr double kLooksChanged = 8;
  if (judged.state != MeasureState::kOpen || gated.asked) return false;
  if (judged.evidence_worse >= kLooksChanged) return false;
  return spent || (runs >= kTellsNoise && judged.noise * needed.effect_fine > gated.limit);
}

/// Evidence that the time by the clock got better: what is used more then was a choice.
double evidence_of_faster_steps(const std::vector<MeasureJudgement>& measures) {
  for (const MeasureJudgement& one : measures) {
    if (one.id == "step_time") return one.evidence_better;
  }
  return 0;
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
  const Needed needed = needed_of(gated.size(), options);
  for (const Gated& one : gated) {
    MeasureJudgement judged = judge_one(one, a, b, options, needed);
    if (gives_up(one, judged, needed, std::min(a.size(), b.size()), spent)) {
      judged.state = MeasureState::kAbstains;
    }
    found.measures.push_back(std::move(judged));
  }
  const double faster = options.limits.empty() ? evidence_of_faster_steps(found.measures) : 0;
  if (faster >= needed.worse) trade(found.measures);
  if (any_is(found.measures, MeasureState::kRegressed)) {
    // It looks like a trade: more runs tell.
    constexpr double kLooksFaster = 3;
    if (faster >= kLooksFaster && !spent) return found;
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
