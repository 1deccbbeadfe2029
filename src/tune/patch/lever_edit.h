#pragma once

#include <optional>
#include <string>

#include "script/edited_script.h"
#include "tune/levers/lever.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// What a lever is in the text of a script. Nothing where no text would be certain to do what the
/// lever did in the job. `path`: of the script, whole; `job`: as it is, by its first run.
std::optional<script::ScriptEdit> edit_for(const Lever& lever, const std::string& path,
                                           const TrialResult& job);

}  // namespace unstarve::tune
