#pragma once

#include <string>

#include "base/result.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// Where a search has its trials from.
class Trials {
 public:
  virtual ~Trials() = default;
  /// A trial that ends badly is a result. Errors: kTimeout where no time is left for it,
  /// kCancelled where a signal asks for the end, what else keeps trials from being made.
  virtual Result<TrialResult> run(const TrialRequest& request) = 0;
};

}  // namespace unstarve::tune
