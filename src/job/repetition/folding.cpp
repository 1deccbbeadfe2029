#include "job/repetition/folding.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

namespace unstarve::job {

namespace {

constexpr std::size_t kLongestPeriod = 8192;  // words
constexpr int kMostPasses = 400;
// Names of units lie above those of the caller, those of interruptions at the other end.
constexpr std::uint32_t kFirstUnit = 1U << 31U;

/// Where the least of a unit's rotations begins: a run is one of the same unit wherever it begins.
std::size_t least_rotation(const std::vector<std::uint32_t>& unit) {
  const std::size_t size = unit.size();
  std::size_t best = 0;
  std::size_t other = 1;
  std::size_t same = 0;
  while (best < size && other < size && same < size) {
    const std::uint32_t a = unit[(best + same) % size];
    const std::uint32_t b = unit[(other + same) % size];
    if (a == b) {
      ++same;
      continue;
    }
    (a > b ? best : other) += same + 1;
    if (best == other) ++other;
    same = 0;
  }
  return std::min(best, other);
}

}  // namespace

void Folding::append(std::uint32_t word, const Stretch& where) { words_.push_back({word, where}); }

void Folding::interrupt() {
  words_.push_back({std::numeric_limits<std::uint32_t>::max() - interruptions_++, {}});
}

void Folding::fold() {
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const std::vector<std::size_t> periods = likely_periods();
    const bool folded = std::any_of(periods.begin(), periods.end(),
                                    [this](std::size_t period) { return fold_period(period); });
    if (!folded) return;
  }
}

/// Distances at which groups of words come again, of one word and of a few, so often that a unit of
/// that length may stand twice in a row somewhere; ascending.
std::vector<std::size_t> Folding::likely_periods() const {
  std::vector<std::uint32_t> times(kLongestPeriod + 1);
  for (const std::size_t group : std::array<std::size_t, 4>{1, 2, 4, 8}) {
    std::unordered_map<std::uint64_t, std::size_t> last;
    for (std::size_t i = 0; i + group <= words_.size(); ++i) {
      std::uint64_t hash = 0;
      for (std::size_t k = 0; k < group; ++k) {
        hash = (hash ^ words_[i + k].id) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29U;
      }
      const auto [entry, is_new] = last.try_emplace(hash, i);
      if (is_new) continue;
      const std::size_t distance = i - entry->second;
      if (distance <= kLongestPeriod) ++times[distance];
      entry->second = i;
    }
  }
  std::vector<std::size_t> periods;
  for (std::size_t period = 1; period < times.size(); ++period) {
    if (times[period] > period / 4) periods.push_back(period);
  }
  return periods;
}

/// Folds every run of units of `period` words; false where there is none.
bool Folding::fold_period(std::size_t period) {
  Words folded;
  bool found = false;
  std::size_t done = 0;  // words before it are in `folded` already
  for (std::size_t at = 0; at + period < words_.size();) {
    std::size_t equal = 0;
    while (at + period + equal < words_.size() &&
           words_[at + equal].id == words_[at + period + equal].id) {
      ++equal;
    }
    if (equal < period) {
      at += equal + 1;
      continue;
    }
    if (!found) folded.reserve(words_.size());
    found = true;
    std::vector<std::uint32_t> unit(period);
    for (std::size_t k = 0; k < period; ++k) unit[k] = words_[at + k].id;
    const std::size_t turn = least_rotation(unit);
    const std::size_t begin = equal >= period + turn ? at + turn : at;
    const std::size_t times = (at + period + equal - begin) / period;
    for (; done < begin; ++done) folded.push_back(words_[done]);
    folded.push_back(fold_run(&words_[begin], period, times));
    done = begin + times * period;
    at = done;
  }
  if (!found) return false;
  for (; done < words_.size(); ++done) folded.push_back(words_[done]);
  words_ = std::move(folded);
  return true;
}

Folding::Word Folding::fold_run(const Word* run, std::size_t period, std::size_t times) {
  const std::uint32_t unit = unit_of(run, period);
  for (std::size_t time = 0; time < times; ++time) {
    const Word* const repeat = run + time * period;
    repeats_[unit].push_back({repeat->where.first, repeat[period - 1].where.end});
  }
  return {kFirstUnit + unit, {run->where.first, run[times * period - 1].where.end}};
}

std::uint32_t Folding::unit_of(const Word* run, std::size_t period) {
  std::vector<std::uint32_t> unit(period);
  for (std::size_t k = 0; k < period; ++k) unit[k] = run[k].id;
  const auto turn = static_cast<std::ptrdiff_t>(least_rotation(unit));
  std::rotate(unit.begin(), unit.begin() + turn, unit.end());
  const auto next = static_cast<std::uint32_t>(repeats_.size());
  const auto [entry, is_new] = units_.try_emplace(std::move(unit), next);
  if (is_new) repeats_.emplace_back();
  return entry->second;
}

}  // namespace unstarve::job
