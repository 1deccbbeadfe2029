#include "observe/profiled/clock_alignment.h"

#include <algorithm>

namespace unstarve::observe {

Result<ClockOffset> align_clocks(const std::vector<ClockBracket>& brackets) {
  if (brackets.empty()) {
    return fail(ErrorCode::kInvalidArgument, "no event is known on both clocks");
  }
  // Times of a century, so that no difference of two overflows.
  constexpr std::int64_t kTimeMaxNs = 3'200'000'000'000'000'000;
  const auto sane = [](std::int64_t t) { return t >= -kTimeMaxNs && t <= kTimeMaxNs; };
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t widest = 0;
  for (std::size_t i = 0; i < brackets.size(); ++i) {
    const ClockBracket& bracket = brackets[i];
    if (bracket.after_ns < bracket.before_ns || !sane(bracket.before_ns) ||
        !sane(bracket.after_ns) || !sane(bracket.at_ns)) {
      return fail(ErrorCode::kInvalidArgument,
                  "the readings of the clock around an event are {} "
                  "and {}",
                  bracket.before_ns, bracket.after_ns);
    }
    const std::int64_t from = bracket.before_ns - bracket.at_ns;
    const std::int64_t to = bracket.after_ns - bracket.at_ns;
    low = i == 0 ? from : std::max(low, from);
    high = i == 0 ? to : std::min(high, to);
    widest = std::max(widest, to - from);
  }
  ClockOffset found;
  found.offset_ns = low + (high - low) / 2;
  const std::int64_t half = (high - low) / 2;
  found.error_ns = low <= high ? half + 1 : widest - half + 1;
  return found;
}

}  // namespace unstarve::observe
