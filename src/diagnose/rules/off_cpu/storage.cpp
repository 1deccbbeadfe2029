#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_storage(const Signals& signals) {
  constexpr double kOffCpu = 0.4;
  constexpr double kPressure = 0.1;
  const double off_cpu = 1 - *signals.fetch_cpu_ratio;
  if (off_cpu < kOffCpu || *signals.io_pressure_ratio < kPressure) return std::nullopt;
  Claim claim;
  claim.weight = off_cpu;
  claim.evidence.push_back(fmt::format(
      "a fetch is off the CPU for {} of its time while tasks wait for storage {} of the time",
      percent_text(off_cpu), percent_text(*signals.io_pressure_ratio)));
  if (signals.storage_bytes_per_s) {
    claim.evidence.push_back(
        fmt::format("the job reads {}/s from storage", bytes_text(*signals.storage_bytes_per_s)));
  }
  return claim;
}

}  // namespace

Rule storage_rule() {
  return {"storage",        RuleKind::kDetail,
          "input_wait",     {&Signals::fetch_cpu_ratio, &Signals::io_pressure_ratio},
          evaluate_storage, ""};
}

}  // namespace unstarve::diagnose
