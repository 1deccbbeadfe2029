#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "base/number_words.h"
#include "base/units.h"
#include "diagnose/signals/launch_conditions.h"

namespace unstarve::advise {

namespace {

bool concerns(const diagnose::Signals& signals, std::string_view rule) {
  return rule == "exposed_communication" || rule == "small_batch" || rule == "gpu_memory_room" ||
         (rule == "launch" && is_launch_bound(signals)) ||
         (rule == "kernel_wait" && signals.kernel_ns_median && launches_small_work(signals));
}

/// How many times as many samples surely fit, twice at most: all that is in use may grow with the
/// batch. What weights take does not, and how much that is nobody knows.
double times_that_fit(const diagnose::Signals& signals) {
  constexpr double kFull = 0.95;  // steps differ in what they need
  if (!signals.gpu_memory_used_ratio || *signals.gpu_memory_used_ratio <= 0) return 2;
  return std::min(2.0, kFull / *signals.gpu_memory_used_ratio);
}

/// More samples per step; nothing when the device's memory is known to be full, or has been.
std::optional<Remedy> offer_larger_batch(const Situation& situation, std::string_view rule) {
  constexpr double kWorthIt = 1.15;
  const diagnose::Signals& signals = situation.signals;
  if (!concerns(signals, rule)) return std::nullopt;
  const double times = times_that_fit(signals);
  if (times < kWorthIt) return std::nullopt;
  if (signals.memory_full_per_step.value_or(0) > 0) return std::nullopt;
  const std::string room = signals.gpu_memory_used_ratio
                               ? fmt::format(" ({} of its memory is in use)",
                                             percent_text(*signals.gpu_memory_used_ratio))
                               : " if its memory allows";
  Remedy remedy;
  const char* const and_then =
      situation.job.infers
          ? "no optimizer of torch's steps here: where nothing is trained, results stay"
          : "this changes the training's trajectory, so adapt the learning rate";
  remedy.how = fmt::format("Give the GPU more samples per step{}; {}.", room, and_then);
  if (signals.batch_size) {
    const auto size = whole_number<std::int64_t>(times * std::round(*signals.batch_size));
    remedy.values = {{"batch_size", size}};
  }
  return remedy;
}

/// Twice the samples, or as many as fit, take as many launches and as much communication, and twice
/// as long for loading and copies. Kernels take as long as now where they do not fill the device,
/// at most twice that, and what they take more lies in the gaps for most of it.
Reading<predict::StepEdit> edit_larger_batch(const Situation& situation, std::string_view rule) {
  constexpr double kLikely = 0.8;
  constexpr double kSteadier = 0.04;  // two runs of the zoo differ by as much
  const diagnose::Signals& signals = situation.signals;
  if (rule != "launch" && rule != "exposed_communication" && rule != "kernel_wait") {
    return WhyAbsent::kNotSupported;
  }
  if (!signals.gpu_compute_ratio) return signals.gpu_compute_ratio.why_absent();
  const double times = times_that_fit(signals);
  const double grows =
      (times - 1) * (signals.input_wait_ratio.value_or(0) + signals.exposed_copy_ratio.value_or(0));
  const double loader = times * loader_share(signals);
  return predict::StepEdit{.removed = {0, kSteadier},
                           .added = {grows, grows + (times - 1) * *signals.gpu_compute_ratio},
                           .at_least = {loader, loader},
                           .samples_ratio = times,
                           .likely = kLikely};
}

}  // namespace

CatalogueEntry larger_batch_remedy() {
  return {.id = "larger_batch",
          .effort = Effort::kTrajectory,
          .offer = offer_larger_batch,
          .edit = edit_larger_batch};
}

}  // namespace unstarve::advise
