#pragma once

#include <string>
#include <string_view>

namespace unstarve::report {

/// `text` as it may stand in an HTML element or a quoted attribute: markup characters as entities,
/// what is not UTF-8 as U+FFFD, control characters and marks that turn text around as blanks.
std::string escape(std::string_view text);

/// HTML in which no line ends between a number and its percent sign.
std::string with_whole_percents(std::string_view html);

}  // namespace unstarve::report
