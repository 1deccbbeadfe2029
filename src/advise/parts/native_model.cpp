#include "advise/parts/native_model.h"

namespace unstarve::advise {

std::optional<predict::Remedy> native_model(const std::optional<LoaderCost>& cost,
                                            const PredictionBasis& basis) {
  if (!cost) return std::nullopt;
  const int threads = basis.calibration.threads;
  const double old_bytes = basis.bytes_per_step;
  const double new_bytes = basis.pipeline.mean_samples() * cost->sample_bytes;
  predict::Remedy remedy = predict::native_loader(
      threads, 2 * threads, cost->sample_cpu_s, old_bytes > new_bytes ? new_bytes / old_bytes : 1);
  // Of loaders with workers nothing is said: their batches lie in shared memory.
  const bool in_training_thread = basis.pipeline.loader_known && basis.pipeline.workers == 0;
  if (in_training_thread) remedy.freeing_s = basis.calibration.freeing_s;
  return remedy;
}

std::optional<predict::Remedy> drop_in_model(const std::optional<LoaderCost>& cost,
                                             const PredictionBasis& basis) {
  std::optional<predict::Remedy> remedy = native_model(cost, basis);
  if (remedy) remedy->loader.receive_s += basis.pipeline.pinning_s;
  return remedy;
}

}  // namespace unstarve::advise
