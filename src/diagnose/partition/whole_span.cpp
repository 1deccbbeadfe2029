#include "diagnose/partition/whole_span.h"

#include <algorithm>

namespace unstarve::diagnose {

std::array<double, kCauseCount> shares_of_span(const DevicePartition& partition,
                                               const job::Rank& rank) {
  std::array<double, kCauseCount> shares = partition.shares();
  const std::int64_t span_ns = partition.span.duration_ns();
  if (partition.recorded_ns <= 0 || partition.recorded_ns >= span_ns) return shares;
  const std::int64_t undisturbed_ns = job::undisturbed_ns(rank, partition.span);
  if (undisturbed_ns <= 0) return shares;
  std::int64_t seen_ns = 0;
  for (const job::RecordedPart& part : partition.parts) {
    seen_ns += job::covered_ns(rank.waits, part.when);
  }
  const double waited_seen =
      static_cast<double>(seen_ns) / static_cast<double>(partition.recorded_ns);
  const std::int64_t waited_ns = job::covered_ns(rank.waits, partition.span) + rank.thinned.wait_ns;
  const double waited = static_cast<double>(waited_ns) / static_cast<double>(undisturbed_ns);
  double& input_wait = shares[static_cast<std::size_t>(Cause::kInputWait)];
  const double corrected = std::clamp(input_wait + waited - waited_seen, 0.0, 1.0);
  const double rest = 1.0 - input_wait;
  // What the time outside holds beside waits is unknown where the parts hold nothing but waits.
  constexpr double kNothing = 1e-9;
  const double scale = rest > kNothing ? (1.0 - corrected) / rest : 0.0;
  for (double& share : shares) share *= scale;
  input_wait = corrected;
  if (rest <= kNothing) shares[static_cast<std::size_t>(Cause::kOther)] = 1.0 - corrected;
  return shares;
}

}  // namespace unstarve::diagnose
