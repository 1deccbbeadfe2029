#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/comparison.h"

namespace unstarve::compare {

/// What must not be: "step_time>5%", "au<90%".
struct Limit {
  std::string text;      // as it was written
  std::string measure;   // its id
  bool above = true;     // what is more than `value` breaks it; else what is less
  bool relative = true;  // of the change, else of B's value
  double value = 0;      // a ratio, or in the measure's unit
};

/// Limits separated by commas: a measure's id, `<` or `>`, a number. With `%` and a sign (`+10%`)
/// it is the change; with `%` alone the value of a ratio (au, input_wait, blocked) and the change
/// of all else; without `%` a value in the unit of the measure. Errors: kInvalidArgument, with what
/// is wrong in which of them.
Result<std::vector<Limit>> parse_limits(std::string_view text);

enum class Held { kHolds, kBroken, kNotCompared };

/// A change breaks a limit where it is beyond it and certainly no chance: its interval does not
/// hold 0. Where a measure has no interval, its value alone decides. kNotCompared: a side lacks the
/// measure.
Held judge(const Limit& limit, const Comparison& comparison);

}  // namespace unstarve::compare
