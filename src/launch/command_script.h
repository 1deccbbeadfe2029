#pragma once

#include <string>
#include <vector>

namespace unstarve::launch {

/// The script that a command runs as Python runs one, as the command names it: `train.py` of
/// `python -u train.py --epochs 3`. Empty where it runs a module, or something that runs others.
std::string script_of(const std::vector<std::string>& command);

}  // namespace unstarve::launch
