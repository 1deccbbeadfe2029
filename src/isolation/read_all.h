#pragma once

#include <cstddef>
#include <string>

#include "host/host_files.h"

namespace unstarve::isolation {

/// A file of /proc; empty where it cannot be read, as of a process that has just ended. (A stream
/// would throw there.)
inline std::string read_all(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  return host::HostFiles().read(path, kMostBytes).value_or(std::string());
}

}  // namespace unstarve::isolation
