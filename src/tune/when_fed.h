#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "predict/speedup.h"
#include "tune/result/tune_result.h"

namespace unstarve::tune {

/// Runs the job with loaders that give their first batch again and again: what it gains, and what
/// levers gain, if loading takes no time.
class WhenFed {
 public:
  using Make = std::function<Result<TrialResult>(TrialRequest)>;
  explicit WhenFed(Make make) : make_(std::move(make)) {}

  /// What the job gains, between `before` and `again`, two runs of it as it is that differ by
  /// `noise_ratio`. None: it cannot be run so, or it gains more than it waits for its loader, so
  /// that its first batch is less work than others. Errors: those of `make`.
  Result<std::optional<predict::Speedup>> measure(const TrialResult& before,
                                                  const TrialResult& again, double noise_ratio);
  /// Whether a lever that gained nothing would, if the loader kept up; adds that to its reason.
  /// Only where the job is held up by its loader. Errors: those of `make`.
  Status judge(LeverResult& entry, double noise_ratio);

 private:
  Result<TrialResult> make(const std::string& label, const std::vector<std::string>& levers);

  Make make_;
  TrialResult last_;  // the last such run without a lever
  bool is_held_up_ = false;
};

}  // namespace unstarve::tune
