#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::host {

/// A stretch of a process's memory from which it runs code.
struct CodeRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string path;  // of the file that is mapped there; "[vdso]"; empty: made at run time
};

/// The stretches of `/proc/PID/maps` with code, by address. Takes any bytes: a line that is not as
/// the kernel writes them is left out.
std::vector<CodeRange> parse_code_ranges(std::string_view maps);

}  // namespace unstarve::host
