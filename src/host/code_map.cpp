#include "host/code_map.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "host/text_scan.h"

namespace unstarve::host {

namespace {

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "7f1c00000000-7f1c00021000 r-xp 00003000 08:01 4711    /usr/lib/libz.so.1"
std::optional<CodeRange> parse_line(std::string_view line) {
  const std::string_view range = take_word(line);
  const std::string_view access = take_word(line);
  if (access.size() < 3 || access[2] != 'x') return std::nullopt;
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto begin = hexadecimal(range.substr(0, dash));
  const auto end = hexadecimal(range.substr(dash + 1));
  if (!begin || !end || *begin >= *end) return std::nullopt;
  for (int i = 0; i < 3; ++i) take_word(line);  // offset, device, inode
  return CodeRange{*begin, *end, std::string(trim(line))};
}

}  // namespace

std::vector<CodeRange> parse_code_ranges(std::string_view maps) {
  std::vector<CodeRange> ranges;
  while (const auto line = take_line(maps)) {
    if (auto range = parse_line(*line)) ranges.push_back(*std::move(range));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
  return ranges;
}

}  // namespace unstarve::host
