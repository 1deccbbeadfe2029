#include "diagnose/rules/all_rules.h"
#include "diagnose/rules/remedies.h"
#include "diagnose/rules/wording.h"

namespace unstarve::diagnose {

namespace {

// The host came too late with the next launch: Python, the framework, or kernels so short that
// no host keeps up.
std::optional<Claim> evaluate(const Signals& signals) {
  // Kernels this short are over before Python has launched the next one.
  constexpr double kShortKernelNs = 20e3;
  constexpr double kManyLaunches = 100;
  if (*signals.launch_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.launch_ratio;
  claim.evidence.push_back(fmt::format(
      "the GPU is idle for {} of the time because the host launched the next work too late",
      percent(claim.weight)));
  if (signals.kernel_ns_median) {
    const std::string count =
        signals.launches_per_step
            ? fmt::format("{:.0f} GPU operations per step, ", *signals.launches_per_step)
            : "";
    claim.evidence.push_back(
        fmt::format("{}the median kernel takes {}", count, duration(*signals.kernel_ns_median)));
  }
  constexpr double kOneGap = 0.5;
  if (signals.longest_launch_gap_ratio.value_or(0) >= kOneGap) {
    claim.evidence.push_back(fmt::format(
        "one single gap makes {} of it: an event like start-up or compilation, not the steady loop",
        percent(*signals.longest_launch_gap_ratio)));
    claim.remedies.push_back(advice("record_more_steps",
                                    "Record more steps after warm-up before changing anything "
                                    "(torch.profiler.schedule(wait=1, warmup=2, active=10))."));
  }
  const bool many_small = signals.kernel_ns_median.value_or(kShortKernelNs) < kShortKernelNs ||
                          signals.launches_per_step.value_or(0) >= kManyLaunches;
  if (many_small) {
    claim.remedies.push_back(advice(
        "cuda_graphs_or_compile",
        "Launch less often: torch.compile(model, mode='reduce-overhead') (CUDA graphs), fused "
        "optimizers (fused=True), channels_last where it saves conversions."));
    if (std::optional<Remedy> remedy = larger_batch(signals)) claim.remedies.push_back(*remedy);
  }
  claim.remedies.push_back(advice(
      "move_host_work",
      "Find what the training thread does between launches (py-spy, torch.profiler with_stack) "
      "and move it out of the step: logging, metrics, checkpoints, Python loops over "
      "tensors."));
  return claim;
}

}  // namespace

Rule launch_rule() {
  return {"launch", RuleKind::kCause, "launch", {&Signals::launch_ratio}, evaluate, ""};
}

}  // namespace unstarve::diagnose
