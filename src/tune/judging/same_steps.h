#pragma once

#include <optional>

#include "predict/speedup.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// Old / new time of the steps that both runs made, part by part: where some steps take longer than
/// others (texts of many lengths), and the same ones in both runs, that is known far better than
/// means of different steps. None where steps of one run do not tell how long those of the other
/// take, or there are too few.
std::optional<predict::Speedup> speedup_of_same_steps(const TrialResult& before,
                                                      const TrialResult& after);

}  // namespace unstarve::tune
