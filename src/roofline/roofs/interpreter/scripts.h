#pragma once

#include <string>
#include <string_view>

namespace unstarve::roofline {

// The files of scripts/, which the build writes into the program. Each says its arguments and what
// it prints.

std::string_view torch_process_script();
std::string_view gemm_script();
std::string_view bandwidth_script();
std::string_view collectives_script();

/// What `python -c` runs: torch_process_script(), and behind it one that builds on that.
std::string behind_torch_process(std::string_view script);

}  // namespace unstarve::roofline
