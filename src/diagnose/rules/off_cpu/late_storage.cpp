#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

/// "in calls on files 81 %, asleep 3.0 %": the largest first, what was hardly seen left out.
std::string where_fetches_wait(const Signals& signals) {
  constexpr double kHardly = 0.01;
  struct Part {
    const char* words;
    double ratio;
  };
  std::array<Part, 3> parts = {{
      {"in calls on files", signals.fetch_in_files_ratio.value_or(0)},
      {"for the network", signals.fetch_in_network_ratio.value_or(0)},
      {"asleep", signals.fetch_asleep_ratio.value_or(0)},
  }};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.ratio > b.ratio; });
  std::string words;
  for (const Part& part : parts) {
    if (part.ratio < kHardly) continue;
    words +=
        fmt::format("{}{} {}", words.empty() ? "" : ", ", part.words, percent_text(part.ratio));
  }
  return words;
}

/// "a sample takes 21.0 ms, 19.8 ms of them waiting; 2 workers make 95 samples/s, 1.2 MB/s are
/// read"; empty where nothing of it is known.
std::string of_a_sample(const Signals& signals, double waits) {
  if (!signals.fetch_ns_median || signals.batch_size.value_or(0) <= 0) return "";
  const double sample_ns = *signals.fetch_ns_median / *signals.batch_size;
  std::string words = fmt::format("a sample takes {}, {} of them waiting", duration_text(sample_ns),
                                  duration_text(waits * sample_ns));
  if (signals.num_workers && sample_ns > 0) {
    const double at_once = std::max(*signals.num_workers, 1.0);
    const std::string who = *signals.num_workers == 0 ? "the training thread makes"
                            : at_once == 1            ? "one worker makes"
                                                      : fmt::format("{:.0f} workers make", at_once);
    words += fmt::format("; {} {:.0f} samples/s at most", who, at_once * 1e9 / sample_ns);
  }
  if (signals.read_call_bytes_per_s) {
    words += fmt::format(", {}/s are read", bytes_text(*signals.read_call_bytes_per_s));
  }
  return words;
}

std::optional<Claim> evaluate_late_storage(const Signals& signals) {
  if (!fetches_wait_for_storage(signals)) return std::nullopt;
  if (fetches_sleep(signals)) return std::nullopt;  // by themselves: `asleep` says so
  const double waits = *storage_wait_ratio(signals);
  Claim claim;
  claim.weight = 1 - *signals.fetch_cpu_ratio;
  claim.evidence.push_back(
      fmt::format("a fetch is off the CPU for {} of its time; seen from outside, it waits {}",
                  percent_text(1 - *signals.fetch_cpu_ratio), where_fetches_wait(signals)));
  if (const std::string sample = of_a_sample(signals, waits); !sample.empty()) {
    claim.evidence.push_back(sample);
  }
  if (signals.cpu_use_ratio) {
    claim.evidence.push_back(fmt::format("the job uses {} of the {:.0f} CPUs it may use meanwhile",
                                         percent_text(*signals.cpu_use_ratio),
                                         signals.effective_cpus.value_or(0)));
  }
  return claim;
}

}  // namespace

Rule late_storage_rule() {
  return {"late_storage",        RuleKind::kDetail,
          "input_wait",          {&Signals::fetch_cpu_ratio, &Signals::fetch_in_files_ratio},
          evaluate_late_storage, ""};
}

}  // namespace unstarve::diagnose
