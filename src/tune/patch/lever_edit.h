#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial/permanent/python_call.h"
#include "trial/permanent/source_edit.h"
#include "tune/levers/lever.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// A script's text, and what it is called.
struct Script {
  std::string source;
  std::string path;  // whole
};

/// Arguments of one call in a script.
struct CallEdit {
  trial::PythonCall call;
  std::size_t most_by_place = 0;  // so many arguments by their places are certainly others
  trial::NamedValues values;
  trial::Replacements given = {};  // values in the place of those that the call gives
};

/// What a lever is in the text of a script.
struct LeverEdit {
  std::vector<std::string> lines;  // behind its first `import torch`
  std::vector<CallEdit> calls;
};

/// Where the line ends behind which lines for torch may stand: a position in the first `import
/// torch` that is not indented. None: there is no such line.
std::optional<std::size_t> find_import_of_torch(std::string_view source);

/// Nothing where the text would not be certain to do what the lever did in the job. `job`: as it
/// is, by its first run.
std::optional<LeverEdit> edit_for(const Lever& lever, const Script& script, const TrialResult& job);

}  // namespace unstarve::tune
