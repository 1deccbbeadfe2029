#include <fmt/format.h>

#include <utility>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/rules/stage_shares.h"

namespace unstarve::diagnose {

namespace {

// Idle while the training thread waits for a batch; the details say what a batch's time goes to.
std::optional<Claim> evaluate_input_wait(const Signals& signals) {
  const double beside = signals.launch_beside_loading_ratio.value_or(0);
  if (*signals.input_wait_ratio + beside < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.input_wait_ratio + beside;
  claim.evidence.push_back(
      fmt::format("the GPU is idle for {} of the time while the training thread waits for the "
                  "data loader, which takes {} of step time in all",
                  percent_text(*signals.input_wait_ratio), percent_text(*signals.wait_ratio)));
  if (beside >= kSmallestShare) {
    claim.evidence.push_back(fmt::format(
        "and for {} because the training thread is ready to launch, but the loader's {:.0f} "
        "processes have the CPUs: it waits for one for {} of the time",
        percent_text(beside), *signals.num_workers,
        percent_text(*signals.training_cpu_wait_ratio)));
  }
  if (signals.wait_ns_median && signals.step_ns_median) {
    claim.evidence.push_back(fmt::format("median wait {} of a median step of {}",
                                         duration_text(*signals.wait_ns_median),
                                         duration_text(*signals.step_ns_median)));
  }
  if (std::string shares = stage_shares(signals); !shares.empty()) {
    claim.evidence.push_back(std::move(shares));
  }
  return claim;
}

}  // namespace

Rule input_wait_rule() {
  return {"input_wait",        RuleKind::kCause,
          "input_wait",        {&Signals::input_wait_ratio, &Signals::wait_ratio},
          evaluate_input_wait, ""};
}

}  // namespace unstarve::diagnose
