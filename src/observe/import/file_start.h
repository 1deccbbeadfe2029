#pragma once

#include <cstddef>
#include <string>

namespace unstarve::observe {

/// The first bytes of a regular file, at most so many; empty where there is none or it cannot be
/// read, which whoever reads all of it will say better.
std::string read_file_start(const std::string& path, std::size_t bytes_max);

}  // namespace unstarve::observe
