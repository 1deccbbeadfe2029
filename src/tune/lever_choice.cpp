#include "tune/lever_choice.h"

#include <algorithm>

#include "tune/asked_arguments.h"
#include "tune/judging/promise.h"
#include "tune/judging/speed.h"
#include "tune/levers/catalogue.h"

namespace unstarve::tune {

namespace {

/// A budget may end before the last one. How the job is fed comes first, since what else gains
/// anything is not seen before, and last where feeding it gains little.
std::vector<Lever> by_promise(std::vector<Lever> levers, const std::vector<StepShares>& seen,
                              bool held_up) {
  const auto promise = [&](const Lever& lever) { return promise_of(lever, seen, held_up); };
  std::stable_sort(levers.begin(), levers.end(),
                   [&](const Lever& a, const Lever& b) { return promise(a) > promise(b); });
  return levers;
}

/// If it waited for no loader any more: any, where nobody saw how long it waits.
double speedup_of_waiting(const std::vector<StepShares>& seen) {
  double waited = seen.empty() ? 1 : 0;
  for (const StepShares& shares : seen) {
    waited = std::max(waited, shares.known() ? shares.loading : 1);
  }
  return speedup_of_saving(waited);
}

bool has_batch(const std::vector<Argument>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.name == kBatchArgument; });
}

/// What would change the training is not judged by the time that a step takes, nor what saves
/// memory; for more workers the bound is what batches gain that are there already.
void bound_gain(LeverResult& entry, const std::vector<StepShares>& seen,
                const std::optional<predict::Speedup>& when_fed) {
  const Lever& lever = entry.lever;
  const bool by_time = !lever.saves_memory && lever.numerics != Numerics::kTrajectory &&
                       lever.numerics != Numerics::kRegrouped;
  if (!by_time) return;
  if (lever.eases == Eases::kLoading) {
    if (when_fed) entry.at_most = std::max(1.0, when_fed->high);
    return;
  }
  const std::optional<double> saved = most_saved(lever, seen);
  if (!saved) return;
  entry.at_most = speedup_of_saving(*saved);
  if (!entry.is_pending() || *entry.at_most > kWorthChanging) return;
  entry.too_small = true;
  entry.settle(Outcome::kTooSmall, {ReasonKind::kTooSmall,
                                    {{"most", *entry.at_most},
                                     {"eases", std::string(to_string(lever.eases))},
                                     {"share", *saved}}});
}

}  // namespace

bool is_asked_for(const Lever& lever, const SearchOptions& options) {
  const std::string name = lever.id.substr(0, lever.id.find('='));
  return options.only.empty() ||
         std::any_of(options.only.begin(), options.only.end(), [&](const std::string& asked) {
           return asked == lever.id || asked == name || asked == lever.group;
         });
}

std::vector<LeverResult> choose_levers(const TrialResult& job, const std::vector<StepShares>& seen,
                                       const std::optional<predict::Speedup>& when_fed,
                                       const SearchOptions& options) {
  const auto cudnn = job.why_not.find("sdpa_cudnn");
  const bool has_cudnn = cudnn == job.why_not.end() || cudnn->second != "this torch has none";
  const TunedJob tuned = {job.device,         job.threads,     options.cpus,  job.interop_threads,
                          options.allocators, options.allowed, job.optimizer, has_cudnn};
  const double most = when_fed ? when_fed->high : speedup_of_waiting(seen);
  const bool held_up = most >= kHeldUpByLoader;
  std::vector<LeverResult> chosen;
  AskedArguments asked = settle_arguments(options.arguments, job);
  for (Lever& lever : by_promise(levers_for(tuned, asked.known), seen, held_up)) {
    if (!is_asked_for(lever, options)) continue;
    LeverResult entry;
    const auto why = job.why_not.find(lever.hook);
    const bool is_refused = !lever.hook.empty() && why != job.why_not.end();
    if (is_refused) entry.settle_if(Outcome::kNotApplicable, quoted(why->second));
    if (entry.is_pending()) entry.settle_if(Outcome::kNotApplicable, quoted(lever.missing));
    entry.lever = std::move(lever);
    bound_gain(entry, seen, when_fed);
    chosen.push_back(std::move(entry));
  }
  for (LeverResult& row : asked.without_value) {
    if (is_asked_for(row.lever, options)) chosen.push_back(std::move(row));
  }
  for (const std::string& name : options.only) {
    const bool is_argument = name == kBatchArgument && has_batch(options.arguments);
    SearchOptions alone;
    alone.only = {name};
    const bool is_known = std::any_of(chosen.begin(), chosen.end(), [&](const LeverResult& entry) {
      return is_asked_for(entry.lever, alone);
    });
    if (is_known || is_argument) continue;
    LeverResult row;
    row.lever.id = name;
    row.settle(Outcome::kNotApplicable, ReasonKind::kNoSuchLever);
    chosen.push_back(std::move(row));
  }
  return chosen;
}

}  // namespace unstarve::tune
