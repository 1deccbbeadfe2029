#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"
#include "roofline/position/known_roofs.h"
#include "roofline/position/step_work.h"

namespace unstarve::roofline {

/// What one part of the machine must do for a step at least: an amount, under a roof.
struct Term {
  std::string name;  // "compute", "memory", "h2d", "launches", "loader"
  double amount = 0;
  std::string unit;        // of the amount: "flop", "bytes", "1", "cpu_s"
  UsedRoof roof;           // of several dtypes, or of launches and graphs: what they come to
  double least_s = 0;      // that a step takes for it, whatever else it does
  double share = 0;        // of the step that was measured
  std::string why_absent;  // not empty: nothing of the above is known
};

/// Floating-point operations done a second, of what could be.
struct Utilization {
  double ratio = 0;
  std::string why_absent;  // not empty: it is not known
};

/// What a job computes on.
struct Device {
  std::string name;       // empty: not known
  bool is_cpu = false;    // else a GPU
  bool modelled = false;  // it is emulated: roofs and the step's time are a model's
};

/// Where a job lies under the roofs of its machine: a step takes at least as long as its largest
/// term.
struct Position {
  Device device;
  /// The host's, or what the device is busy for it, if that is longer.
  double step_s = 0;
  std::vector<Term> terms;                // always the five
  std::optional<std::size_t> bound = {};  // the largest of them; none: all are absent
  Utilization of_specification = {};      // MFU
  Utilization of_measured = {};           // against products that were measured
  trace::FlopText flops = {};
  bool flops_at_least = false;  // something that multiplies was not counted
  Reading<double> flop_per_s = {};
  Reading<double> flop_per_byte = {};  // of the operands of its operators, each once
  KnownRoofs roofs = {};
  std::vector<std::string> notes = {};  // sentences
};

/// No position without a step's time. What is above its roof is refused: it is wrong.
std::optional<Position> place(const StepWork& measured, const KnownRoofs& roofs,
                              const Device& device);

}  // namespace unstarve::roofline
