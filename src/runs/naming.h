#pragma once

#include <string>

#include "base/result.h"

namespace unstarve::runs {

/// The folder that somebody means by `named`: a path, the name of a run in the folder `folder`, or
/// "last", the one there that began last. Errors: kNotFound.
Result<std::string> find_entry(const std::string& named, const std::string& folder);

}  // namespace unstarve::runs
