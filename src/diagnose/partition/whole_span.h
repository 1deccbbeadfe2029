#pragma once

#include <array>

#include "diagnose/partition/partition.h"
#include "job/rank/rank.h"

namespace unstarve::diagnose {

/// Shares of the whole span, by Cause, of a device that was recorded in parts of it. The waits for
/// the loader are known for all of the span: `input_wait` is what it was in the parts, plus what
/// the training thread waited more (or less) elsewhere, and the other causes keep their
/// proportions. Where all was recorded these are the partition's own shares.
std::array<double, kCauseCount> shares_of_span(const DevicePartition& partition,
                                               const job::Rank& rank);

}  // namespace unstarve::diagnose
