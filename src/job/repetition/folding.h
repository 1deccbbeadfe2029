#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace unstarve::job {

/// A part of a sequence: from `first` to before `end`.
struct Stretch {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - first; }
};

/// Folds a sequence: wherever something stands twice or more in a row, one word takes its place,
/// the shortest repeats first. So layers and time steps become a word each, however many there are,
/// and what is around them becomes short enough to be seen to repeat. Not thread-safe.
///
///   Folding folding;
///   for (name : names) folding.append(name, {i, i + 1});
///   folding.fold();   // folding.repeats()[unit]: each time through that unit
class Folding {
 public:
  void append(std::uint32_t word, const Stretch& where);
  /// What follows is no continuation of what came before.
  void interrupt();
  void fold();
  /// By unit: every time through it, in the positions that append() was told, as they came.
  const std::vector<std::vector<Stretch>>& repeats() const { return repeats_; }

 private:
  struct Word {
    std::uint32_t id;
    Stretch where;
  };
  using Words = std::vector<Word>;

  std::vector<std::size_t> likely_periods() const;
  bool fold_period(std::size_t period);
  Word fold_run(const Word* run, std::size_t period, std::size_t times);
  std::uint32_t unit_of(const Word* run, std::size_t period);

  Words words_;
  std::uint32_t interruptions_ = 0;
  std::map<std::vector<std::uint32_t>, std::uint32_t> units_;  // by their words
  std::vector<std::vector<Stretch>> repeats_;
};

}  // namespace unstarve::job
