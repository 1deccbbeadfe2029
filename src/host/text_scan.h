#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace unstarve::host {

// The few moves that the texts of /proc and /sys need. They cut views off the front of `rest`.

/// The text up to the next newline, which is taken too; nothing when `rest` is empty.
inline std::optional<std::string_view> take_line(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

/// The next word of a line, words being separated by blanks and tabs; empty at its end.
inline std::string_view take_word(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  rest.remove_prefix(begin);
  const std::size_t end = rest.find_first_of(" \t");
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(word.size());
  return word;
}

inline std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

/// A path as it is in /proc/PID/mountinfo, where blanks, tabs, newlines and backslashes stand as
/// three octal digits: `\040`.
inline std::string unescape_mount_path(std::string_view text) {
  std::string path;
  while (!text.empty()) {
    const bool escaped = text.size() >= 4 && text[0] == '\\' && text[1] >= '0' && text[1] <= '3' &&
                         text.substr(2, 2).find_first_not_of("01234567") == text.npos;
    path += escaped ? static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0')
                    : text[0];
    text.remove_prefix(escaped ? 4 : 1);
  }
  return path;
}

/// `text` as a number, if it is one from its first to its last character.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace unstarve::host
