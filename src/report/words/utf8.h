#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace unstarve::report {

/// One code point of a UTF-8 text and the bytes it took.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = true;  // false: a byte that is not UTF-8; value is U+FFFD, bytes is 1
};

/// The code point at `offset`, which must be inside `text`. Overlong forms, surrogates and values
/// above U+10FFFF are not valid.
CodePoint decode_at(std::string_view text, std::size_t offset);

/// C0 and C1 controls, DEL, line separators, and the marks that turn text around: none of them may
/// reach a terminal or a page from a name in somebody's file.
bool is_control(char32_t c);

/// JSON as it is printed: controls beyond ASCII, which JSON leaves as they are, are escaped as
/// "\u009b", so that none from a name in somebody's file reaches a terminal.
std::string without_controls(std::string_view json);

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace unstarve::report
