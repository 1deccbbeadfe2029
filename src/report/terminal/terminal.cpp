#include "report/terminal/terminal.h"

#include <algorithm>

#include "report/words/utf8.h"

namespace unstarve::report {
namespace {

std::string_view escape_of(Tone tone) {
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kStrong: return "\x1b[1m";
    case Tone::kFaint: return "\x1b[2m";
    case Tone::kGood: return "\x1b[1;32m";
    case Tone::kBad: return "\x1b[1;31m";
    case Tone::kNotice: return "\x1b[1;35m";
    case Tone::kBusy: return "\x1b[36m";
    case Tone::kMoving: return "\x1b[34m";
    case Tone::kStarved: return "\x1b[33m";
    case Tone::kHeldUp: return "\x1b[35m";
  }
  return "";
}

/// Combining marks take no column, East Asian wide and emoji take two. The ranges are the large
/// blocks of Unicode's EastAsianWidth.txt, which is enough to align file names.
int columns_of(char32_t c) {
  if (c >= 0x0300 && c <= 0x036F) return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                    (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                    (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                    (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

/// Bytes of the longest prefix of `text` that takes at most `width` columns.
std::size_t prefix_bytes(std::string_view text, int width) {
  std::size_t offset = 0;
  int used = 0;
  while (offset < text.size()) {
    const CodePoint c = decode_at(text, offset);
    used += columns_of(c.value);
    if (used > width) break;
    offset += c.bytes;
  }
  return offset;
}

}  // namespace

std::string paint(std::string_view text, Tone tone, const TextOptions& options) {
  const std::string_view escape = escape_of(tone);
  if (!options.colour || escape.empty() || text.empty()) return std::string(text);
  std::string painted(escape);
  painted.append(text);
  painted.append("\x1b[0m");
  return painted;
}

std::string printable(std::string_view text, const TextOptions& options) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const CodePoint c = decode_at(text, offset);
    if (is_control(c.value)) {
      safe.push_back(' ');
    } else if (c.value >= 0x80 && !options.unicode) {
      safe.push_back('?');
    } else if (!c.valid) {
      safe.append(kReplacement);
    } else {
      safe.append(text.substr(offset, c.bytes));
    }
    offset += c.bytes;
  }
  return safe;
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const CodePoint c = decode_at(text, offset);
    width += columns_of(c.value);
    offset += c.bytes;
  }
  return width;
}

std::string repeat(std::string_view glyph, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(glyph);
  return text;
}

std::string pad_right(std::string_view text, int width) {
  return std::string(text) + repeat(" ", width - display_width(text));
}

std::string pad_left(std::string_view text, int width) {
  return repeat(" ", width - display_width(text)) + std::string(text);
}

std::string clip(std::string_view text, int width, const TextOptions& options) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view ellipsis = options.unicode ? "…" : "..";
  const int kept = std::max(0, width - display_width(ellipsis));
  return std::string(text.substr(0, prefix_bytes(text, kept))) + std::string(ellipsis);
}

std::vector<std::string> wrap(std::string_view text, int width) {
  width = std::max(width, 2);  // a wide character must fit
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    std::string_view word = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line.push_back(' ');
    while (display_width(word) > width) {
      const std::size_t bytes = prefix_bytes(word, width);
      lines.emplace_back(word.substr(0, bytes));
      word.remove_prefix(bytes);
    }
    line.append(word);
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string hanging(std::string_view first, std::string_view text, const TextOptions& options) {
  const int indent = display_width(first);
  std::string block;
  bool is_first = true;
  for (const std::string& line : wrap(text, std::max(options.width, 40) - indent)) {
    block += is_first ? std::string(first) : repeat(" ", indent);
    block += line + "\n";
    is_first = false;
  }
  return block;
}

}  // namespace unstarve::report
