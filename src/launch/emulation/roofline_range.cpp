#include "launch/emulation/roofline_range.h"

#include <fmt/format.h>

namespace unstarve::launch {

std::string roofline_range_words() {
  constexpr RooflineRange kRange = kRooflineRange;
  return fmt::format(
      "a real one takes {:g} to {:g} times as long (half of {} published figures; all: {:g} to "
      "{:g})",
      kRange.half_low, kRange.half_high, kRange.figures, kRange.all_low, kRange.all_high);
}

}  // namespace unstarve::launch
