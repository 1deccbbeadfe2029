#include "report/words/utf8.h"

#include <fmt/format.h>

namespace unstarve::report {
namespace {

constexpr CodePoint kInvalid = {0xFFFD, 1, false};

}  // namespace

CodePoint decode_at(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || text.size() - offset < length) return kInvalid;
  char32_t value = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return kInvalid;
    value = (value << 6) | (byte(i) & 0x3FU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || value > 0x10FFFF || surrogate) return kInvalid;
  return {value, length, true};
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF;
}

std::string without_controls(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const CodePoint found = decode_at(json, at);
    const bool is_layout = found.value == U'\n';
    if (found.valid && is_control(found.value) && !is_layout) {
      text += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(found.value));
    } else {
      text += json.substr(at, found.bytes);
    }
    at += found.bytes;
  }
  return text;
}

}  // namespace unstarve::report
