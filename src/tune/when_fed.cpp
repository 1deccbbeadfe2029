#include "tune/when_fed.h"

#include <algorithm>

#include "tune/judging/promise.h"
#include "tune/judging/speed.h"

namespace unstarve::tune {

namespace {

/// That more is gained than waiting for the loader takes, as far as the runs saw that.
bool gains_more_than_waiting(const predict::Speedup& gain, const TrialResult& before,
                             const TrialResult& again) {
  constexpr double kBeyond = 1.1;  // a step is not the same twice
  if (!before.shares.known() || !again.shares.known()) return false;
  const double waited = std::max(before.shares.loading, again.shares.loading);
  return gain.low > kBeyond * speedup_of_saving(waited);
}

}  // namespace

Result<TrialResult> WhenFed::make(const std::string& label,
                                  const std::vector<std::string>& levers) {
  TrialRequest request;
  request.label = label;
  request.levers = levers;
  request.first_batch_again = true;
  return make_(std::move(request));
}

Result<std::optional<predict::Speedup>> WhenFed::measure(const TrialResult& before,
                                                         const TrialResult& again,
                                                         double noise_ratio) {
  auto fed = make("fed", {});
  if (!fed) return forward_error(fed);
  if (fed->ending != Ending::kMeasured) return std::optional<predict::Speedup>();
  const predict::Speedup gain = speedup_between(before, *fed, again, false);
  if (gains_more_than_waiting(gain, before, again)) return std::optional<predict::Speedup>();
  is_held_up_ = with_noise(gain, noise_ratio).low > kHeldUpByLoader;
  last_ = *std::move(fed);
  return std::optional(gain);
}

Status WhenFed::judge(LeverResult& entry, double noise_ratio) {
  if (!is_held_up_ || entry.lever.hook.empty() || entry.speedup->high < 1) return {};
  const std::string label = entry.lever.id + ".fed";
  auto with = make(label, {entry.lever.id});
  if (!with) return forward_error(with);
  auto again = make(label + ".without", {});
  if (!again) return forward_error(again);
  if (with->ending != Ending::kMeasured || again->ending != Ending::kMeasured) return {};
  entry.speedup_when_fed = speedup_between(last_, *with, *again, false);
  last_ = *std::move(again);
  if (entry.speedup_when_fed->low > threshold(noise_ratio)) {
    entry.why = {ReasonKind::kFasterWhenFed, {{"speedup", *entry.speedup_when_fed}}, {entry.why}};
  }
  return {};
}

}  // namespace unstarve::tune
