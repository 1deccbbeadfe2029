#pragma once

#include <vector>

#include "diagnose/partition/partition.h"
#include "diagnose/ranks/rank_comparison.h"
#include "job/job_view.h"

namespace unstarve::diagnose {

/// A row for each of the devices, in their order; where no device ran anything, one for each rank
/// of the job whose number is known.
std::vector<RankRow> rank_rows(const job::JobView& job,
                               const std::vector<DevicePartition>& devices);

}  // namespace unstarve::diagnose
