#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace unstarve::roofline {

/// What a value was measured under: a name in snake_case with its unit, as everywhere.
using Condition = std::variant<bool, std::int64_t, double, std::string>;
using Conditions = std::vector<std::pair<std::string, Condition>>;

/// The most that one part of a machine was seen to do.
struct Roof {
  std::string name;         // "memory.triad.2_threads": its group before the first dot
  double value = 0;         // best of the repeats; their median is among the conditions
  std::string unit;         // "bytes/s", "images/s", "1/s", "flop/s", "Hz"
  double spread_ratio = 0;  // of the repeats: between their quartiles, of the median
  Conditions conditions;
  std::int64_t measured_s = 0;  // since 1970
};

/// One that was not measured, and why.
struct AbsentRoof {
  std::string name;    // of the roof or of all that begin so: "gpu"
  std::string reason;  // a clause for people
};

/// What is known of one machine.
struct MachineRoofs {
  std::vector<Roof> roofs;
  std::vector<AbsentRoof> absent;
};

/// "memory" of "memory.triad.2_threads".
std::string group_of(const std::string& name);

/// Puts what was measured now among what was known: each roof in the place of the one of its name.
/// Of `complete` groups nothing else stays, since the next machine of that name may lack it.
void merge(const MachineRoofs& measured, const std::vector<std::string>& complete,
           MachineRoofs& known);

}  // namespace unstarve::roofline
