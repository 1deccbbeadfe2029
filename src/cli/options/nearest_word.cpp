#include "cli/options/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace unstarve::cli {

namespace {

constexpr std::size_t kMostApart = 2;

/// How many letters must be changed, put in or left out to make one of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
  std::string nearest;
  std::size_t least = kMostApart + 1;
  for (const std::string& candidate : words) {
    const std::size_t apart = distance(word, candidate);
    if (apart >= least) continue;
    least = apart;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace unstarve::cli
