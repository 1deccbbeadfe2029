#pragma once

#include <string>

#include "compare/comparison.h"

namespace unstarve::report {

/// The same for a pull request: the sentence, a table, and what differs folded away.
std::string comparison_markdown(const compare::Comparison& comparison);

/// Any text as it stands in Markdown: no markup, no HTML, on one line.
std::string markdown_text(const std::string& text);

}  // namespace unstarve::report
