#pragma once

#include "diagnose/diagnosis.h"

namespace unstarve::diagnose {

// What a diagnosis says first: decided here alone, so that no two sentences of one report differ.

/// The finding to begin with; nullptr where there is none. That is the largest, unless it is time
/// whose reason was not recorded and one with a reason matters as well.
const Finding* leading_finding(const Diagnosis& diagnosis);

/// The remedy to name for a finding: the first one, which takes the least doing, unless another is
/// predicted to gain clearly more; nullptr where there is none.
const Remedy* leading_remedy(const Finding& finding);

}  // namespace unstarve::diagnose
