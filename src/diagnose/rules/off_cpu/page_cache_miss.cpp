#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_page_cache_miss(const Signals& signals) {
  constexpr double kOffCpu = 0.4;
  constexpr double kMisses = 0.5;
  // Less is noise: of a few bytes that are read, most may be missed.
  constexpr double kLittle = 64e3;
  const double off_cpu = 1 - *signals.fetch_cpu_ratio;
  if (signals.storage_bytes_per_s.value_or(kLittle) < kLittle) return std::nullopt;
  if (off_cpu < kOffCpu || *signals.page_cache_miss_ratio < kMisses) return std::nullopt;
  Claim claim;
  claim.weight = off_cpu * *signals.page_cache_miss_ratio;
  claim.evidence.push_back(fmt::format(
      "{} of the bytes read come from storage and not from the page cache, and a fetch is off the "
      "CPU for {} of its time",
      percent_text(*signals.page_cache_miss_ratio), percent_text(off_cpu)));
  return claim;
}

}  // namespace

Rule page_cache_miss_rule() {
  return {"page_cache_miss",
          RuleKind::kDetail,
          "input_wait",
          {&Signals::page_cache_miss_ratio, &Signals::fetch_cpu_ratio},
          evaluate_page_cache_miss,
          ""};
}

}  // namespace unstarve::diagnose
