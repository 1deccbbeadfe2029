#pragma once

#include <string>
#include <string_view>

#include "advise/advice.h"

namespace unstarve::advise {

/// One sentence: what, why with its share, where, what to do and what that would gain; on an
/// emulated device it says so. When nothing can be said, the real reason. Of `advice` everything
/// but the verdict is there.
std::string write_verdict(const diagnose::Diagnosis& diagnosis, const Advice& advice,
                          const JobFacts& job);

/// What the measurement was made beside, and what to do about that; empty where it was undisturbed.
std::string condition_words(const diagnose::Diagnosis& diagnosis, const Advice& advice);

// Parts that sentences of several kinds share.

/// "decoding images", to stand behind "mostly because of"; empty for a detail without words.
std::string_view detail_words(std::string_view detail);
/// The same of a finding, whose work may be known by name.
std::string_view detail_words(const diagnose::Finding& finding);
/// "; import ... (predicted 2.10x faster, 1.90 to 2.30)", or nothing where no remedy leads.
std::string what_to_do(const Advice& advice);

}  // namespace unstarve::advise
