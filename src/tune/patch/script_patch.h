#pragma once

#include <string>
#include <vector>

#include "tune/patch/lever_edit.h"
#include "tune/result/tune_result.h"

namespace unstarve::tune {

/// The file is read as it is now. No diff where the command runs no script, or it cannot be read.
ScriptPatch patch_of_script(const std::vector<std::string>& command, const TuneResult& result);

/// The same of a text. `name`: of the file below the folder that the diff is for.
ScriptPatch patch_of(const Script& script, const std::string& name, const TuneResult& result);

}  // namespace unstarve::tune
