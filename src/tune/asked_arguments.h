#pragma once

#include <cstddef>
#include <vector>

#include "tune/levers/argument.h"
#include "tune/result/tune_result.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// What became of the arguments that a search was asked for.
struct AskedArguments {
  std::vector<Argument> known;             // with the values that the job has
  std::vector<LeverResult> without_value;  // rows of those that nothing can be tried of, and why
};

/// The values of arguments of classes are what the first run constructed these with.
AskedArguments settle_arguments(const std::vector<Argument>& asked, const TrialResult& first_run);

/// With the value that one of the levers has given it which are kept, by their places.
Argument as_kept(Argument argument, const std::vector<LeverResult>& levers,
                 const std::vector<std::size_t>& kept);

}  // namespace unstarve::tune
