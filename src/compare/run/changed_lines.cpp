#include "compare/run/changed_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace unstarve::compare {

namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// One line of the way from one text to the other.
struct Edit {
  char sign = ' ';  // ' ': both have it, '-': `a` alone, '+': `b` alone
  std::string_view line;
};

/// The way over the longest common subsequence, by the table of its lengths.
void add_shortest_way(const Lines& a, const Lines& b, std::vector<Edit>& edits) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint16_t> common((a.size() + 1) * width, 0);
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i * width + j] =
          a[i] == b[j] ? static_cast<std::uint16_t>(common[(i + 1) * width + j + 1] + 1)
                       : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      edits.push_back({' ', a[i]});
      ++i, ++j;
    } else if (j == b.size() ||
               (i < a.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      edits.push_back({'-', a[i++]});
    } else {
      edits.push_back({'+', b[j++]});
    }
  }
}

std::vector<Edit> way(const Lines& a, const Lines& b) {
  constexpr std::size_t kMostLines = 5000;
  const auto parted = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto parted_back = std::mismatch(a.rbegin(), std::make_reverse_iterator(parted.first),
                                         b.rbegin(), std::make_reverse_iterator(parted.second));
  const Lines of_a(parted.first, parted_back.first.base());
  const Lines of_b(parted.second, parted_back.second.base());
  std::vector<Edit> edits;
  for (auto line = a.begin(); line != parted.first; ++line) edits.push_back({' ', *line});
  if (of_a.size() <= kMostLines && of_b.size() <= kMostLines) {
    add_shortest_way(of_a, of_b, edits);
  } else {
    for (const std::string_view line : of_a) edits.push_back({'-', line});
    for (const std::string_view line : of_b) edits.push_back({'+', line});
  }
  for (auto line = parted_back.first.base(); line != a.end(); ++line) edits.push_back({' ', *line});
  return edits;
}

}  // namespace

std::string changed_lines(std::string_view a, std::string_view b) {
  constexpr std::size_t kAround = 1;
  const std::vector<Edit> edits = way(lines_of(a), lines_of(b));
  std::string text;
  std::size_t line_of_a = 1;
  std::size_t shown_to = 0;  // edits before it are written or passed over
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].sign != ' ') {
      const std::size_t from = std::max(shown_to, i - std::min(i, kAround));
      if (from > shown_to || shown_to == 0) text += fmt::format("@@ line {} @@\n", line_of_a);
      for (std::size_t k = from; k < i; ++k) text += fmt::format(" {}\n", edits[k].line);
      text += fmt::format("{}{}\n", edits[i].sign, edits[i].line);
      shown_to = i + 1;
      const bool changes_end = i + 1 == edits.size() || edits[i + 1].sign == ' ';
      for (std::size_t k = i + 1; changes_end && k < edits.size() && k <= i + kAround; ++k) {
        text += fmt::format(" {}\n", edits[k].line);
        shown_to = k + 1;
      }
    }
    if (edits[i].sign != '+') ++line_of_a;
  }
  return text;
}

}  // namespace unstarve::compare
