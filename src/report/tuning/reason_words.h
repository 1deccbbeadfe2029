#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tune/reason/reason.h"
#include "tune/result/tune_result.h"

namespace unstarve::report {

/// A reason as part of a sentence: "no gain above 2.0 % is certain". Empty where there is none.
std::string reason_words(const tune::Reason& reason);

/// The same for programs: {"kind": "no_certain_gain", "gain": 0.02}, with "because" where others
/// are part of it. Null where there is none.
nlohmann::json reason_json(const tune::Reason& reason);

/// What the job's own runs told, by which results are compared; empty: there were none.
std::string own_results_words(const tune::OwnResults& own);

}  // namespace unstarve::report
