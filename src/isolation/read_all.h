#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace unstarve::isolation {

/// A file of /proc, which has no size; empty where it cannot be read.
inline std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace unstarve::isolation
