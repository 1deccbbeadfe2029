#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unstarve::cli {

/// Writes a whole file through a temporary one beside it, so that no half of it is ever seen.
/// "-" is standard output.
Status write_file(const std::string& path, std::string_view text);

}  // namespace unstarve::cli
