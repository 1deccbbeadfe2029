#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unstarve::cli {

/// Whether write_file() can be expected to succeed, for the beginning of what takes hours. Leaves
/// nothing behind. An empty path is one that nobody asked for.
Status check_writable(const std::string& path);

/// Writes a whole file through a temporary one beside it, so that no half of it is ever seen.
/// "-" is standard output. Devices, pipes and what a link leads to are written, not replaced.
Status write_file(const std::string& path, std::string_view text);

}  // namespace unstarve::cli
