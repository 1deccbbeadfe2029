#include <fmt/format.h>

#include "advise/catalogue.h"
#include "advise/parts/worker_count.h"
#include "base/number_words.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

/// A worker's thread that waits for its helpers by looking again and again shows as CPU time too.
constexpr double kMuchBeside = 0.25;

/// Where all CPUs work already, threads of libraries take them from other workers: what is shared
/// out and waited for comes on top.
std::optional<Remedy> offer_one_thread_per_worker(const Situation& situation,
                                                  std::string_view rule) {
  const diagnose::Signals& signals = situation.signals;
  const bool late = is_about_waiting(rule) || rule == "too_many_workers";
  if (!late || is_native(signals) || signals.num_workers.value_or(0) < 2) return std::nullopt;
  if (signals.worker_side_ratio.value_or(0) < kMuchBeside) return std::nullopt;
  if (signals.cpu_use_ratio.value_or(0) < diagnose::kCpusBusy) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Let each worker compute by one thread, in `worker_init_fn`: `cv2.setNumThreads(0)`, "
      "`threadpoolctl.threadpool_limits(1)`. {} of the workers' CPU time goes to other threads "
      "than the one that makes samples, and all CPUs work.",
      percent_text(*signals.worker_side_ratio));
  return remedy;
}

}  // namespace

CatalogueEntry one_thread_per_worker_remedy() {
  return {.id = "one_thread_per_worker",
          .effort = Effort::kRewrite,
          .offer = offer_one_thread_per_worker};
}

}  // namespace unstarve::advise
