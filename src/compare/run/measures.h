#pragma once

#include <span>
#include <string_view>

#include "compare/run/step_blocks.h"

namespace unstarve::compare {

enum class Unit { kMicroseconds, kMilliseconds, kRatio, kPerSecond, kBytes, kJoules };

/// What two runs are compared by: a sum over their steps, divided by another one.
struct Measure {
  std::string_view id;     // "cpu_ms_per_sample", as in JSON and in --fail-on
  std::string_view words;  // "CPU time a sample"
  Unit unit;
  Amount over;
  Amount under;
  double scale;        // of seconds / count to the unit
  bool more_is_worse;  // else less is
};

/// The measures in the order in which tables show them; the first two are the time of a step and of
/// a sample.
std::span<const Measure> step_measures();

/// Null where there is none of that id.
const Measure* measure_named(std::string_view id);

/// What a run is known by as a whole; it has no steps to be resampled.
struct RunMeasure {
  std::string_view id;
  std::string_view words;
  Unit unit;
  bool more_is_worse;
};

std::span<const RunMeasure> run_measures();

}  // namespace unstarve::compare
