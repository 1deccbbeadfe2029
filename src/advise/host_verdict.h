#pragma once

#include <string>
#include <vector>

#include "advise/advice.h"

namespace unstarve::advise {

// What is said of a job whose GPU could not be seen, or that has none: the host alone speaks.

/// Whether the loader takes so little of a step that there is nothing to gain from loading faster.
/// False where a GPU's activity was recorded, or where nothing is known of the waits.
bool hardly_waits(const diagnose::Diagnosis& diagnosis);

/// The verdict of a diagnosis without a partition; see write_verdict().
std::string write_host_verdict(const diagnose::Diagnosis& diagnosis, const Advice& advice,
                               const JobFacts& job);

/// Why no GPU's activity was observed, and how it would be; nothing where it was.
std::vector<NotObserved> what_was_not_observed(const diagnose::Diagnosis& diagnosis,
                                               const JobFacts& job);

}  // namespace unstarve::advise
