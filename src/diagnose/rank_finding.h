#pragma once

#include "diagnose/diagnosis/diagnosis.h"
#include "diagnose/ranks/rank_comparison.h"

namespace unstarve::diagnose {

/// Puts the ranks into a diagnosis that speaks of the straggler, where there is one, and says at
/// its finding how the others' steps differ.
void add_ranks(RankComparison ranks, Diagnosis& diagnosis);

}  // namespace unstarve::diagnose
