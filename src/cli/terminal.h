#pragma once

#include <string_view>

#include "report/text/live.h"
#include "report/text/terminal.h"

namespace unstarve::cli {

enum class Stream { kOut = 1, kErr = 2 };

/// True when the stream is a terminal that understands escape sequences.
bool is_terminal(Stream stream);

/// Width, colour and glyphs for what is written to `stream`: as wide as the terminal (at most 120),
/// coloured unless NO_COLOR is set, ASCII where the locale is not UTF-8; plain where it is no
/// terminal. COLUMNS overrides the width.
report::TextOptions text_options(Stream stream);

/// How progress is shown on stderr: one line that is rewritten on a terminal, plain lines
/// elsewhere.
report::ProgressOptions progress_options();

/// Writes all of `text`, whatever it holds. A reader that went away is not an error of ours.
void write_text(Stream stream, std::string_view text);

}  // namespace unstarve::cli
