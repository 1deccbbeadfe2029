#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "examine/examination.h"
#include "report/terminal/terminal.h"
#include "report/text/live.h"

namespace unstarve::cli {

enum class Stream { kOut = 1, kErr = 2 };

/// True when the stream is a terminal that understands escape sequences.
bool is_terminal(Stream stream);

/// Width, colour and glyphs for what is written to `stream`: as wide as the terminal (at most 120),
/// coloured unless NO_COLOR is set, ASCII where the locale is not UTF-8; plain where it is no
/// terminal. COLUMNS overrides the width.
report::TextOptions text_options(Stream stream);

/// The same for a report; `verbose`: with everything that is in its page.
report::TextOptions report_options(Stream stream, bool verbose);
inline constexpr std::string_view kVerboseHelp =
    "show all that the page has: every finding, rules of thumb, and by name the rules and signals "
    "that nothing was seen of";

/// How progress is shown on stderr: one line that is rewritten on a terminal, plain lines
/// elsewhere.
report::ProgressOptions progress_options();

/// One line on stderr that says how far the reading of a trace is, once that takes over a second.
class ReadingLine {
 public:
  /// `shown`: else nothing is said.
  ReadingLine(std::string path, bool shown);
  ReadingLine(const ReadingLine&) = delete;
  ReadingLine& operator=(const ReadingLine&) = delete;
  /// What an importer is given; holds on to this object.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress();
  void clear() { line_.clear(); }

 private:
  std::string path_;
  bool shown_;
  SteadyClock clock_;
  report::ProgressLine line_;
};

/// Each on a line of stderr, as "unstarve: note: ...".
void write_notes(const std::vector<std::string>& notes);
/// Of an examination's remarks those that its report does not hold: the first, and how many more
/// there are, and none on how gains were predicted; with `verbose` all.
void write_remarks(const examine::Examination& examined, bool verbose);

/// Writes all of `text`, whatever it holds. A reader that went away is not an error of ours.
void write_text(Stream stream, std::string_view text);
/// "unstarve: TEXT" as a line on stderr.
void say(const std::string& text);

}  // namespace unstarve::cli
