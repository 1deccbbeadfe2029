#pragma once

#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/partition/partition.h"
#include "diagnose/ranks/rank_comparison.h"
#include "job/job_view.h"

namespace unstarve::diagnose {

/// A row for each of the devices, in their order; where no device ran anything, one for each rank
/// of the job whose number is known.
std::vector<RankRow> rank_rows(const job::JobView& job,
                               const std::vector<DevicePartition>& devices);

/// Puts the ranks into a diagnosis that speaks of the straggler, where there is one, and says at
/// its finding how the others' steps differ.
void add_ranks(RankComparison ranks, Diagnosis& diagnosis);

}  // namespace unstarve::diagnose
