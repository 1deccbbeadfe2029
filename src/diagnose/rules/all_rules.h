#pragma once

#include <vector>

#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

/// Every rule there is: causes, details, conditions, hints. A new one is a file in one of the
/// folders beside this that defines `Rule NAME_rule()`; the build lists them.
const std::vector<Rule>& all_rules();

/// The same in the order of the files, made anew. The build writes this function.
std::vector<Rule> list_rules();

}  // namespace unstarve::diagnose
