// Reads a file past the page cache as `unstarve roofline` reads its scratch file, with the same
// code: so that it can be held against another program on the same file, in turns as short as
// wanted.
//
//   read_disk FILE sequential|random BLOCK_BYTES DEPTH SECONDS
//
// Prints bytes a second, the median of the windows.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/io/files.h"
#include "roofline/roofs/disk/disk_reads.h"
#include "roofline/roofs/repeats.h"

int main(int argc, char** argv) {
  using namespace unstarve;
  constexpr double kNsPerS = 1e9;
  if (argc != 6) {
    fmt::print(stderr, "usage: read_disk FILE sequential|random BLOCK_BYTES DEPTH SECONDS\n");
    return 2;
  }
  io::Files files;
  const auto file = files.open(argv[1], O_RDONLY | O_DIRECT);
  struct stat known {};
  if (!file || ::fstat(file->get(), &known) != 0) {
    fmt::print(stderr, "{} cannot be opened with O_DIRECT\n", argv[1]);
    return 1;
  }
  roofline::ReadPattern pattern;
  pattern.random = std::string(argv[2]) == "random";
  pattern.block_bytes = std::strtoull(argv[3], nullptr, 10);
  pattern.depth = std::atoi(argv[4]);
  pattern.extent_bytes = static_cast<std::uint64_t>(known.st_size);
  if (pattern.depth < 1 || pattern.block_bytes == 0 || pattern.extent_bytes < pattern.block_bytes) {
    fmt::print(stderr, "no block of {} bytes can be read\n", pattern.block_bytes);
    return 1;
  }
  SteadyClock clock;
  roofline::Session session(clock, {});
  const auto duration_ns = static_cast<std::int64_t>(std::atof(argv[5]) * kNsPerS);
  const auto rates = roofline::read_rates(file->get(), pattern, duration_ns, session);
  if (!rates) {
    fmt::print(stderr, "{}\n", rates.error().message);
    return 1;
  }
  fmt::print("{:.6g}\n", roofline::summarise(*rates).median);
  return 0;
}
