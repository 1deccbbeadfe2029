#include "job/repetition/repetition.h"

#include <algorithm>
#include <map>
#include <optional>

namespace unstarve::job {

namespace {

// Folding reads so much of a long sequence, in so many pieces spread over it.
constexpr std::size_t kPieces = 4;
constexpr std::size_t kPieceSize = 20'000;

constexpr std::size_t kFewestRepeats = 6;
constexpr double kLeastCovered = 0.3;
constexpr double kShortestUnit = 3;     // operations, of a unit that does not touch the host
constexpr double kMostOfARemark = 2.5;  // operations, in the mean
constexpr double kOwnPart = 0.9;
constexpr double kSameRatio = 1.25;
constexpr double kLongestRatio = 4;
constexpr double kClearlyMore = 1.1;
constexpr std::size_t kUnitsLookedAt = 64;
constexpr std::size_t kMarksLookedAt = 32;

struct Unit {
  const std::vector<Stretch>* repeats = nullptr;
  double size = 0;  // operations, in the mean
  bool touches_host = false;
};

std::size_t covered_by(const std::vector<Stretch>& stretches) {
  std::size_t covered = 0;
  for (const Stretch& stretch : stretches) covered += stretch.size();
  return covered;
}

bool touches_host(const std::vector<Launched>& sequence, const Stretch& stretch) {
  for (std::size_t i = stretch.first; i < stretch.end; ++i) {
    if (sequence[i].touches_host) return true;
  }
  return false;
}

/// Pieces of the sequence, folded; how many operations they hold.
std::size_t fold_pieces(const std::vector<Launched>& sequence, Folding& folding) {
  const std::size_t size = sequence.size();
  std::size_t held = 0;
  const auto add = [&](std::size_t from, std::size_t to) {
    folding.interrupt();
    for (std::size_t i = from; i < to; ++i) {
      if (sequence[i].begins_window) folding.interrupt();
      folding.append(sequence[i].what, {i, i + 1});
    }
    held += to - from;
  };
  if (size <= kPieces * kPieceSize) {
    add(0, size);
  } else {
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
      const std::size_t from = (size - kPieceSize) * piece / (kPieces - 1);
      add(from, from + kPieceSize);
    }
  }
  folding.fold();
  return held;
}

/// Units that come often enough and make up enough, the shortest first.
std::vector<Unit> possible_units(const std::vector<Launched>& sequence, const Folding& folding,
                                 std::size_t held) {
  std::vector<Unit> units;
  for (const std::vector<Stretch>& repeats : folding.repeats()) {
    const std::size_t covered = covered_by(repeats);
    if (repeats.size() < kFewestRepeats) continue;
    if (static_cast<double>(covered) < kLeastCovered * static_cast<double>(held)) continue;
    Unit unit;
    unit.repeats = &repeats;
    unit.size = static_cast<double>(covered) / static_cast<double>(repeats.size());
    const auto touching = static_cast<std::size_t>(std::count_if(
        repeats.begin(), repeats.end(),
        [&sequence](const Stretch& stretch) { return touches_host(sequence, stretch); }));
    unit.touches_host = 10 * touching >= 9 * repeats.size();
    units.push_back(unit);
  }
  std::sort(units.begin(), units.end(),
            [](const Unit& a, const Unit& b) { return a.size < b.size; });
  return units;
}

/// How many operations `outer` has beside the times through `inner` that lie in it, in the mean.
double beside(const Unit& outer, const Unit& inner) {
  std::vector<Stretch> inside = *inner.repeats;
  const auto by_first = [](const Stretch& a, const Stretch& b) { return a.first < b.first; };
  std::sort(inside.begin(), inside.end(), by_first);
  std::size_t rest = 0;
  for (const Stretch& stretch : *outer.repeats) {
    rest += stretch.size();
    auto part = std::lower_bound(inside.begin(), inside.end(), stretch, by_first);
    for (; part != inside.end() && part->end <= stretch.end; ++part) rest -= part->size();
  }
  return static_cast<double>(rest) / static_cast<double>(outer.repeats->size());
}

/// Of the units that touch the host those without another such in them, of these the longest: a
/// batch that is trained on, not one that is evaluated. `units` are by size.
std::optional<std::size_t> longest_with_host(const std::vector<Unit>& units) {
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!units[i].touches_host) continue;
    const bool holds_another = std::any_of(
        units.begin(), units.begin() + static_cast<std::ptrdiff_t>(i), [&](const Unit& inner) {
          return inner.touches_host && beside(units[i], inner) < kOwnPart * units[i].size;
        });
    if (!holds_another) chosen = i;
  }
  return chosen;
}

std::optional<Unit> choose(const std::vector<Unit>& units) {
  if (units.empty()) return std::nullopt;
  std::size_t chosen = longest_with_host(units).value_or(units.size() - 1);
  while (chosen > 0 && units[chosen - 1].size >= kShortestUnit &&
         beside(units[chosen], units[chosen - 1]) <= kMostOfARemark) {
    --chosen;
  }
  if (!units[chosen].touches_host && units[chosen].size < kShortestUnit) return std::nullopt;
  return units[chosen];
}

/// Operations that come once in each time through the unit; those that come least elsewhere.
std::vector<std::uint32_t> possible_marks(const std::vector<Launched>& sequence, const Unit& unit) {
  std::map<std::uint32_t, std::size_t> once;
  const std::size_t looked_at = std::min(unit.repeats->size(), kUnitsLookedAt);
  for (std::size_t repeat = 0; repeat < looked_at; ++repeat) {
    const Stretch& stretch = (*unit.repeats)[repeat];
    std::map<std::uint32_t, std::size_t> counts;
    for (std::size_t i = stretch.first; i < stretch.end; ++i) ++counts[sequence[i].what];
    for (const auto& [operation, count] : counts) {
      if (count == 1) ++once[operation];
    }
  }
  std::map<std::uint32_t, std::size_t> everywhere;
  for (const Launched& launched : sequence) ++everywhere[launched.what];
  std::vector<std::uint32_t> marks;
  for (const auto& [operation, count] : once) {
    if (count == looked_at) marks.push_back(operation);
  }
  std::stable_sort(marks.begin(), marks.end(), [&everywhere](std::uint32_t a, std::uint32_t b) {
    return everywhere[a] < everywhere[b];
  });
  if (marks.size() > kMarksLookedAt) marks.resize(kMarksLookedAt);
  return marks;
}

/// From each mark to the next, but where `ratio` times as much or as little lies between them as
/// in the unit.
std::vector<Stretch> between_marks(const std::vector<Launched>& sequence, std::uint32_t mark,
                                   double size, double ratio) {
  std::vector<Stretch> stretches;
  std::size_t last = sequence.size();  // none in this window
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i].begins_window) last = sequence.size();
    if (sequence[i].what != mark) continue;
    if (last < i) {
      const double between = static_cast<double>(i - last);
      if (between <= ratio * size && ratio * between >= size) stretches.push_back({last, i});
    }
    last = i;
  }
  return stretches;
}

/// Marks find the unit also where a time through it is not quite like the others: the one that
/// finds most of about its size. Empty where it has none.
std::vector<Stretch> by_marks(const std::vector<Launched>& sequence, const Unit& unit) {
  std::optional<std::uint32_t> best;
  double enough = 0;  // for a mark that comes elsewhere too to be the better one
  for (const std::uint32_t mark : possible_marks(sequence, unit)) {
    const auto found =
        static_cast<double>(between_marks(sequence, mark, unit.size, kSameRatio).size());
    if (found <= enough) continue;
    best = mark;
    enough = kClearlyMore * found;
  }
  if (!best) return {};
  return between_marks(sequence, *best, unit.size, kLongestRatio);
}

}  // namespace

std::vector<Stretch> repeated_stretches(const std::vector<Launched>& sequence) {
  Folding folding;
  const std::size_t held = fold_pieces(sequence, folding);
  const std::optional<Unit> unit = choose(possible_units(sequence, folding, held));
  if (!unit) return {};
  std::vector<Stretch> stretches = by_marks(sequence, *unit);
  if (!stretches.empty()) return stretches;
  stretches = *unit->repeats;
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.first < b.first; });
  return stretches;
}

}  // namespace unstarve::job
