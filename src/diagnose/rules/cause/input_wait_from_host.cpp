#include <fmt/format.h>

#include <utility>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/rules/stage_shares.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::string what_is_waited(const Signals& signals) {
  constexpr double kBursts = 0.5;
  std::string text = fmt::format("the training thread waits for the data loader {} of step time",
                                 percent_text(*signals.wait_ratio));
  if (signals.wait_ns_mean) {
    const double wait_ns = *signals.wait_ns_mean;
    text = fmt::format("in the mean {} of a step of {} are spent waiting for the data loader",
                       duration_text(wait_ns), duration_text(wait_ns / *signals.wait_ratio));
    if (signals.wait_ns_median && *signals.wait_ns_median < kBursts * wait_ns) {
      text += fmt::format(", in bursts (the median is {})", duration_text(*signals.wait_ns_median));
    }
  }
  if (signals.worker_busy_ratio) {
    text += fmt::format("; its {:.0f} worker{} {} of the time", *signals.num_workers,
                        *signals.num_workers < 1.5 ? " fetches" : "s fetch",
                        percent_text(*signals.worker_busy_ratio));
  }
  return text;
}

// Without device records the wait itself is all there is. Where the model is trained on the CPU, or
// a GPU takes no part, it is the time that the loader costs; else it bounds a GPU's idle time from
// above.
std::optional<Claim> evaluate_input_wait_from_host(const Signals& signals) {
  const bool partition_speaks = signals.gpu_compute_ratio.has_value();
  if (partition_speaks || *signals.wait_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.wait_ratio;
  claim.evidence.push_back(what_is_waited(signals));
  if (std::string shares = stage_shares(signals); !shares.empty()) {
    claim.evidence.push_back(std::move(shares));
  }
  if (trains_on_host(signals) || gpu_takes_no_part(signals)) return claim;
  if (signals.gpu_utilisation_mean) {
    claim.evidence.push_back(fmt::format("the monitor shows a mean GPU utilisation of {}",
                                         percent_text(*signals.gpu_utilisation_mean)));
  }
  claim.evidence.push_back(
      "no GPU activity is recorded, so for how much of the waiting a GPU idles is not known: it is "
      "an upper bound");
  return claim;
}

}  // namespace

Rule input_wait_from_host_rule() {
  return {"input_wait_from_host",
          RuleKind::kCause,
          "input_wait",
          {&Signals::wait_ratio},
          evaluate_input_wait_from_host,
          ""};
}

}  // namespace unstarve::diagnose
