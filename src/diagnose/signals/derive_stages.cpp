#include <algorithm>
#include <array>

#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

using trace::LoaderStage;

constexpr std::size_t kStages = static_cast<std::size_t>(LoaderStage::kBatch) + 1;

std::size_t index_of(LoaderStage stage) { return static_cast<std::size_t>(stage); }

/// The share of `when` that lies in `window`.
double share_in(const trace::Interval& when, const trace::Interval& window) {
  const std::int64_t from = std::max(when.start_ns, window.start_ns);
  const std::int64_t to = std::min(when.end_ns, window.end_ns);
  if (to <= from) return 0;
  return static_cast<double>(to - from) / static_cast<double>(when.duration_ns());
}

/// Sums over one loader's stretches of time, each as far as it lies in the window.
struct Totals {
  std::array<double, kStages> spent_ns = {};
  double thread_weight = 0;  // of the mean number of threads
  double threads = 0;

  double of(LoaderStage stage) const { return spent_ns[index_of(stage)]; }
};

Totals add_up(const SignalSources& sources, const job::LoaderUse& loader,
              const trace::Interval& window) {
  Totals totals;
  for (const trace::StageTime& stage : sources.timeline().stages) {
    if (stage.process != loader.config->process || stage.loader_id != loader.id.value_or(0)) {
      continue;
    }
    const double share = share_in(stage.when, window);
    totals.spent_ns[index_of(stage.stage)] += share * static_cast<double>(stage.spent_ns);
    if (stage.stage != LoaderStage::kLoad || !stage.threads) continue;
    const double weight = share * static_cast<double>(stage.when.duration_ns());
    totals.thread_weight += weight;
    totals.threads += weight * static_cast<double>(*stage.threads);
  }
  return totals;
}

}  // namespace

void derive_stage_signals(const SignalSources& sources, Signals& out) {
  const job::LoaderUse* loader = sources.rank.waited_loader();
  if (loader == nullptr || !loader->config || !loader->config->native) return;
  const Totals totals = add_up(sources, *loader, signal_window(sources));
  if (totals.thread_weight > 0) out.loader_threads = totals.threads / totals.thread_weight;
  const double load_ns = totals.of(LoaderStage::kLoad);
  const double stages_ns = totals.of(LoaderStage::kRead) + totals.of(LoaderStage::kDecode) +
                           totals.of(LoaderStage::kTransform);
  if (load_ns <= 0 || stages_ns <= 0) return;
  // Between the stages lies hardly more than what competes for CPUs, which must not hide them.
  out.read_ratio = totals.of(LoaderStage::kRead) / stages_ns;
  out.decode_ratio = totals.of(LoaderStage::kDecode) / stages_ns;
  out.transform_ratio = totals.of(LoaderStage::kTransform) / stages_ns;
  out.fetch_cpu_ratio = std::min(1.0, totals.of(LoaderStage::kOnCpu) / load_ns);
  // Samples are written where the batch lies, and nothing of them runs in Python.
  out.collate_ratio = 0;
  out.python_ratio = 0;
  const double room_ns = totals.of(LoaderStage::kRoom);
  out.threads_idle_ratio = room_ns / (room_ns + load_ns);
}

}  // namespace unstarve::diagnose
