#pragma once

#include <string>
#include <vector>

#include "tune/result/tune_result.h"

namespace unstarve::tune {

/// What is kept, in the script that the command runs, as it is now. No diff where it runs none, or
/// one that its Python cannot read.
ScriptPatch patch_of_script(const std::vector<std::string>& command, const TuneResult& result);

}  // namespace unstarve::tune
