#pragma once

#include <string_view>

namespace unstarve::launch {

// The files of scripts/, which the build writes into the program.

std::string_view torch_build_script();

}  // namespace unstarve::launch
