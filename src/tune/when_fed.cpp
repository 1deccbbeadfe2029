#include "tune/when_fed.h"

#include <fmt/format.h>

#include "tune/judging/speed.h"

namespace unstarve::tune {

Result<TrialResult> WhenFed::make(const std::string& label,
                                  const std::vector<std::string>& levers) {
  TrialRequest request;
  request.label = label;
  request.levers = levers;
  request.first_batch_again = true;
  return make_(std::move(request));
}

Result<std::optional<predict::Speedup>> WhenFed::measure(const TrialResult& before,
                                                         const TrialResult& again) {
  auto fed = make("fed", {});
  if (!fed) return forward_error(fed);
  if (fed->ending != Ending::kMeasured) return std::optional<predict::Speedup>();
  const predict::Speedup gain = speedup_between(before, *fed, again, false);
  is_held_up_ = gain.low > kHeldUpByLoader;
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
    entry.why += fmt::format("; {} if the loader kept up: feed the job first (unstarve run --fix)",
                             in_words(*entry.speedup_when_fed));
  }
  return {};
}

}  // namespace unstarve::tune
