#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::report {

/// A line of a change and what of it differs from the line in whose place it comes, or that comes
/// in its place.
struct ChangedLine {
  std::string text;       // with its "-" or "+"
  std::size_t start = 0;  // bytes; all behind the sign where no line stands for it
  std::size_t end = 0;
};

/// The lines of a change, "-..." and "+...". Lines that go are compared with as many that come
/// right behind them. Names and values differ as a whole: "num_workers=0" rather than "0".
std::vector<ChangedLine> changed_lines(std::string_view lines);

/// The line in at most `most` bytes: of what is the same, the far ends become ellipses. What
/// differs is never left out, so that it may still be longer.
std::string around_the_change(const ChangedLine& line, std::size_t most, std::string_view ellipsis);

/// Of a unified diff the lines that go and come, without what stands around them.
std::string lines_that_change(std::string_view diff);

}  // namespace unstarve::report
