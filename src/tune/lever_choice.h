#pragma once

#include <optional>
#include <vector>

#include "tune/search.h"

namespace unstarve::tune {

/// The levers that a search is to try, in that order, and those that it is not, each with the
/// reason: one that the hook says does not apply, one that needs what is not here, one that eases
/// too little of a step. Those that nobody asked for are left out. `seen`: what a step's time goes
/// to, in each run that was looked at.
std::vector<LeverResult> choose_levers(const TrialResult& job, const std::vector<StepShares>& seen,
                                       const std::optional<predict::Speedup>& when_fed,
                                       const SearchOptions& options);

/// Whether `--only` has it: by its id, its name or its group.
bool is_asked_for(const Lever& lever, const SearchOptions& options);

}  // namespace unstarve::tune
