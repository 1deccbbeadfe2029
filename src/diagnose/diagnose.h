#pragma once

#include "diagnose/diagnosis/diagnosis.h"
#include "diagnose/partition/partition.h"
#include "diagnose/signals/host_signals.h"
#include "diagnose/signals/signals.h"
#include "trace/timeline/timeline.h"

namespace unstarve::diagnose {

/// Says why a GPU idles, from what was recorded of the job and of its host.
///
///   Diagnosis diagnosis = diagnose(timeline, HostSignals{});
///
/// The Timeline is sorted by start. Pure: the same input gives the same answer.
Diagnosis diagnose(const PartitionedJob& partitioned, const HostSignals& host);
/// The same of a Timeline that nothing else looks at.
Diagnosis diagnose(const trace::Timeline& timeline, const HostSignals& host);

}  // namespace unstarve::diagnose
