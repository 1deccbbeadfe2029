#pragma once

#include <optional>
#include <string>

#include "advise/advice.h"

namespace unstarve::advise {

/// Whether what the ranks of a job lose by waiting for one of them is what a report begins with.
bool straggler_leads(const diagnose::Diagnosis& diagnosis);

/// The finding that says why the straggler is late; none where no finding does.
std::optional<std::size_t> finding_of_straggler(const diagnose::Diagnosis& diagnosis);

/// "Rank 1 of 2 is late by 41 % of a step because it waits for its data loader at train.py:12; the
/// other rank waits for it in all-reduce": without an end, so that what to do may follow.
std::string write_rank_verdict(const diagnose::Diagnosis& diagnosis, const Advice& advice,
                               const JobFacts& job);

}  // namespace unstarve::advise
