#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "advise/parts/prediction_basis.h"
#include "base/result.h"
#include "demo/demo_job.h"
#include "examine/calibration/image_sample.h"
#include "feed/pack/pack_job.h"
#include "launch/emulation/emulation.h"
#include "launch/installation.h"
#include "trial/trial.h"
#include "trial/trial_folder.h"

namespace unstarve::demo {

struct DemoOptions {
  std::string folder;   // for the runs; where it exists it holds none of ours
  std::string data;     // the user's own folder of images; empty: made of the project's photographs
  std::string emulate;  // the GPU to emulate; empty: an A100, unless there is a GPU
  DemoLength length;
};

/// What a demo does between its trials.
class DemoListener : public trial::TrialListener {
 public:
  /// `emulation`: none where the machine's own GPU is used.
  virtual void prepares(const launch::Emulation* /*emulation*/) {}
  virtual void makes_images(std::uint64_t /*done*/, std::uint64_t /*total*/) {}
  virtual void has_data(const DemoData& /*made*/) {}
  virtual void calibrates() {}
  virtual void predicted(const examine::Examination& /*before*/) {}
  virtual void copies(const std::string& /*task*/, std::uint64_t /*done*/,
                      std::uint64_t /*total*/) {}
  virtual void copied() {}
  virtual void filled(const examine::FilledCache& /*cache*/,
                      const advise::Calibration& /*measured*/) {}
  virtual void packed(const feed::PackSummary& /*packed*/) {}
};

/// A demo's trials, and what the cache cost.
struct DemoResult {
  trial::TriedJob job;
  advise::Calibration calibration;
  std::optional<examine::FilledCache> cache;  // none: it was not tried
};

/// The remedies that a demo tries, in this order.
inline constexpr std::array<const char*, 4> kDemoRemedies = {"more_workers", "unstarve_loader",
                                                             "unstarve_cache", "unstarve_shards"};
/// These, and the run before.
inline constexpr std::size_t kDemoRuns = 1 + kDemoRemedies.size();

/// The whole loop on the project's example: the job as people first write it, then with each remedy
/// whose gain is predicted. What it makes in its folder beside the runs and their data it takes
/// away again. Errors: as run_trial(); kNotFound where the example, photographs or PyTorch are
/// missing.
Result<DemoResult> run_demo(const launch::Installation& parts, const DemoOptions& options,
                            DemoListener& listener);

}  // namespace unstarve::demo
