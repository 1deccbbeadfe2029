#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tune/judging/parity.h"
#include "tune/result/tune_result.h"

namespace unstarve::tune {

/// Runs the job for its losses, and says whether it computes with levers what it does without. The
/// job as it is runs for that when it is first needed: twice with its own seed, with others, and a
/// step in FP64.
class ResultsCheck {
 public:
  using Make = std::function<Result<TrialResult>(TrialRequest)>;
  /// `make`: none where nothing that is tried alters results, and none are compared.
  explicit ResultsCheck(Make make) : make_(std::move(make)) {}

  /// Fills in the parity, and why the lever may not be kept, where it may not. `label` begins the
  /// names of its trials. Errors: those of `make`.
  Status judge(LeverResult& entry, const std::vector<std::string>& levers,
               const std::string& label);
  /// Whether a run is what the job as it is computes, of which a lever may change what `lever` may.
  /// Errors: those of `make`.
  Result<ParityVerdict> compare(const Lever& lever, TrialRequest request);
  /// What the job's own runs told.
  const OwnResults& own() const { return own_; }

 private:
  Status measure_baseline();
  Status measure_in_float64();
  Result<TrialResult> make(const std::string& label, const std::vector<std::string>& levers,
                           int seed);

  Make make_;
  ParityBaseline baseline_;
  OwnResults own_;
  bool is_measured_ = false;
};

}  // namespace unstarve::tune
