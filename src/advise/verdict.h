#pragma once

#include <string>

#include "advise/advice.h"

namespace unstarve::advise {

/// One sentence: what, why with its share, where, what to do and what that would gain; on an
/// emulated device it says so. When nothing can be said, the real reason. Of `advice` everything
/// but the verdict is there.
std::string write_verdict(const diagnose::Diagnosis& diagnosis, const Advice& advice,
                          const JobFacts& job);

}  // namespace unstarve::advise
