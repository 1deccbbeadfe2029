#pragma once

#include <string>

#include "tune/result/tune_result.h"

namespace unstarve::report {

/// One object, as docs/formats/tune.md has it.
std::string tuning_json(const tune::TuneResult& result);

}  // namespace unstarve::report
