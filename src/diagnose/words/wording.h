#pragma once

#include <string>

namespace unstarve::diagnose {

/// " at train.py:41", or nothing when the place is unknown.
std::string at(const std::string& place);

}  // namespace unstarve::diagnose
