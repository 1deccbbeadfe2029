#pragma once

#include <cstddef>
#include <string_view>

namespace unstarve::trace {

/// Whether a byte of UTF-8 goes on with the character that began before it.
constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The first `most` bytes at most, without a part of a character at their end.
constexpr std::string_view first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && continues_character(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace unstarve::trace
