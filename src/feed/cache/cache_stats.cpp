#include "feed/cache/cache_stats.h"

#include <fmt/format.h>

namespace unstarve::feed {

std::vector<std::string> describe(const CacheStats& stats) {
  std::vector<std::string> lines;
  if (!stats.on) {
    if (!stats.stopped.empty()) lines.push_back("cache: none, " + stats.stopped);
    return lines;
  }
  lines.push_back(
      fmt::format("cache: {} samples read from copies, {} copies written", stats.hits, stats.kept));
  if (!stats.stopped.empty()) lines.push_back("cache: no more copies: " + stats.stopped);
  if (stats.dropped > 0) {
    lines.push_back(
        fmt::format("cache: {} copies made in vain, which were not written", stats.dropped));
  }
  if (stats.refused > 0) {
    lines.push_back(fmt::format("cache: {} files have no faster form, they are read as they are",
                                stats.refused));
  }
  if (stats.damaged > 0) {
    lines.push_back(
        fmt::format("cache: {} copies were damaged, the originals were read", stats.damaged));
  }
  return lines;
}

}  // namespace unstarve::feed
