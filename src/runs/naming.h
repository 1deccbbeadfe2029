#pragma once

#include <string>

#include "base/result.h"

namespace unstarve::runs {

/// The folder that somebody means by `named`: a path, the name of a run in the folder `folder`, or
/// "last", the one there that began last. Errors: kNotFound.
Result<std::string> find_entry(const std::string& named, const std::string& folder);

/// The same, of a run or runs that belong together alone: kInvalidArgument for a folder of runs.
Result<std::string> find_one(const std::string& named, const std::string& folder);

}  // namespace unstarve::runs
