#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace unstarve::feed {

/// What a loader's cache has done since it was opened.
struct CacheStats {
  bool on = false;
  std::uint64_t hits = 0;           // samples read from copies
  std::uint64_t kept = 0;           // copies written
  std::uint64_t dropped = 0;        // copies not written: the disk did not keep up
  std::uint64_t refused = 0;        // files found to have no other form
  std::uint64_t damaged = 0;        // copies that could not be used; the originals were
  std::uint64_t waiting_bytes = 0;  // of copies that are still to be written
  std::uint64_t bytes = 0;          // of the data set's cache when this process last wrote to it
  std::string stopped;              // why no more copies are written; empty: they are
};

/// For people; empty where no cache was asked for.
std::vector<std::string> describe(const CacheStats& stats);

}  // namespace unstarve::feed
