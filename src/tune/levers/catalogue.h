#pragma once

#include <string>
#include <vector>

#include "tune/levers/argument.h"
#include "tune/levers/family.h"

namespace unstarve::tune {

/// Every lever that could be tried, in the order in which they are.
std::vector<Lever> levers_for(const TunedJob& job, const std::vector<Argument>& arguments);

/// UNSTARVE_TUNE's "levers" for these, as JSON.
std::string hook_levers(const std::vector<const Lever*>& levers);

}  // namespace unstarve::tune
