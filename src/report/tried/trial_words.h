#pragma once

#include <string>
#include <vector>

#include "advise/advice.h"
#include "report/model/report_model.h"

namespace unstarve::report {

/// How much faster the job became by all that was kept up to `tried`, against the job as it is.
double total_speedup(const std::vector<Verification>& verification, const Verification& tried);

/// ", kept", ", slower, not kept", or why what was measured is not enough: of a trial of `run
/// --fix`.
std::string outcome_words(const Verification& tried);

/// "the job as it was took 1.3 % longer when it was run again"; empty where it was not.
std::string drift_words(const Verification& tried);

/// "more_workers 1.62x [1.58..1.66], kept"
std::string tried_sentence(const Verification& tried);

/// "nothing is tried: ...": why, where `run --fix` finds nothing to try.
std::string nothing_tried_sentence(const advise::Advice& advice);

/// All that was tried beside `best`, in a sentence; empty where nothing was.
std::string others_tried(const std::vector<Verification>& verification, const Verification& best);

}  // namespace unstarve::report
