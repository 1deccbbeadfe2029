#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unstarve::report {

/// What the place that the text goes to can show.
struct TextOptions {
  int width = 80;        // columns; less than 40 is treated as 40
  bool colour = false;   // ANSI colours
  bool unicode = true;   // block characters and box lines; otherwise ASCII alone
  bool verbose = false;  // also what a newcomer need not read: names of rules and signals
};

/// What a piece of text is; the pen turns it into a colour.
enum class Tone {
  kPlain,
  kStrong,
  kFaint,
  kGood,
  kBad,
  kNotice,   // "emulated", "ambiguous"
  kBusy,     // the GPU works
  kMoving,   // copies and communication
  kStarved,  // idle for lack of input
  kHeldUp,   // idle for another known cause
};

/// Wraps `text` in the escape sequences of `tone`, or returns it as it is when colour is off.
std::string paint(std::string_view text, Tone tone, const TextOptions& options);

/// `text` made safe for a terminal: valid UTF-8 (U+FFFD for the rest), control characters and line
/// ends as blanks, and, without unicode, ASCII alone.
std::string printable(std::string_view text, const TextOptions& options);

/// Columns that printable UTF-8 takes on a terminal.
int display_width(std::string_view text);

/// Filled up with blanks to `width` columns, on the right or on the left.
std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

/// At most `width` columns; what was cut is shown as an ellipsis.
std::string clip(std::string_view text, int width, const TextOptions& options);

/// Lines of at most `width` columns, broken at blanks, inside a word only when it is longer.
std::vector<std::string> wrap(std::string_view text, int width);

/// `text` wrapped to the options' width, with `first` before the first line and as many blanks
/// before the others; every line ends in a newline.
std::string hanging(std::string_view first, std::string_view text, const TextOptions& options);

/// Repeats a glyph.
std::string repeat(std::string_view glyph, int count);

}  // namespace unstarve::report
