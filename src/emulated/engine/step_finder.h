#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulated/engine/operation.h"

namespace unstarve::emulated {

/// What repeats in a stream, as a mean over the times it was seen.
struct FoundStep {
  std::int64_t kernels = 0;  // or launched graphs
  std::int64_t seen = 0;
  std::int64_t modelled_ns = 0;  // its length without a factor
  double factor = 1;             // that brings its length to the one asked for
};

/// Finds the training step in what a stream is given, as the shortest sequence of kernels' names
/// that repeats, and the factor of all durations by which it takes the time that is known of it.
///
/// Layers of a model and parts of an optimizer repeat as well. They are told from the step by that
/// time: a sequence is taken only once it has gone on for four of the asked steps, at least three
/// times over, and where the factor is within 2 both ways, so that no repetition within a step of
/// half to twice the asked length is long enough.
///
///   StepFinder finder(435'000'000);
///   if (const auto found = finder.add(operation)) schedule.set_scale(0, found->factor);
///
/// Cost: some ns a call and, about twice per asked step, a look over what came in eight of them.
/// Thread rule: one thread at a time; the owner locks.
class StepFinder {
 public:
  static constexpr double kFactorMax = 2;

  explicit StepFinder(std::int64_t step_ns) : step_ns_(step_ns) {}

  /// What the stream is given next, its duration without a factor. Gives the step, once: nothing is
  /// looked for after it.
  std::optional<FoundStep> add(const Operation& operation);

 private:
  /// One kernel, fill or launched graph, with the copies behind it.
  struct Work {
    std::uintptr_t what = 0;       // the same for the same kernel, whatever its shapes
    std::int64_t scalable_ns = 0;  // modelled durations, which a factor stretches
    std::int64_t fixed_ns = 0;     // pauses between kernels, and copies
    std::int64_t length_ns() const { return scalable_ns + fixed_ns; }
  };

  static Work work_of_graph(const Operation& launch);
  std::optional<FoundStep> add_work(const Work& work);
  std::optional<FoundStep> look() const;
  std::optional<FoundStep> judge(std::size_t period, std::size_t repeats) const;
  void forget_old();

  const std::int64_t step_ns_;
  std::vector<Work> history_;
  std::int64_t history_ns_ = 0;
  std::int64_t unseen_ns_ = 0;  // since the last look
  bool found_ = false;
};

}  // namespace unstarve::emulated
