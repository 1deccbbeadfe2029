#pragma once

#include <string>

namespace unstarve::diagnose {

/// " at train.py:41", or nothing when the place is unknown.
std::string at(const std::string& place);

/// With a capital, as a sentence begins.
std::string capitalised(std::string words);

}  // namespace unstarve::diagnose
