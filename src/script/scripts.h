#pragma once

#include <string_view>

namespace unstarve::script {

// The files of scripts/, which the build writes into the program.

std::string_view edit_script_script();

}  // namespace unstarve::script
