#pragma once

#include <string>

#include "gate/gate.h"

namespace unstarve::report {

/// "regressed: cpu_ms_per_sample +12.4 % (limit 5 %)", "undecided: step_time", ...
std::string decision_sentence(const gate::GateResult& result);

/// "holds", or why not: "varies by 9.0 % from run to run: changes below 21 % cannot be seen here".
std::string state_sentence(const gate::MeasureJudgement& measure);

/// "+12.4 %", "+3.1 points", or a value where the limit is of one.
std::string judged_change_text(const gate::MeasureJudgement& measure);

/// How many runs, how often it is wrong, and what it can see.
std::string rates_sentence(const gate::GateResult& result);

/// Whether a measure is a share, whose changes are in points.
bool is_share(const std::string& measure);

}  // namespace unstarve::report
