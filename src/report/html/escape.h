#pragma once

#include <string>
#include <string_view>

namespace unstarve::report {

/// `text` as it may stand in an HTML element or a quoted attribute: markup characters as entities,
/// what is not UTF-8 as U+FFFD, control characters and marks that turn text around as blanks.
std::string escape(std::string_view text);

}  // namespace unstarve::report
