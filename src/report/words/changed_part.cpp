#include "report/words/changed_part.h"

#include <algorithm>
#include <cctype>

#include "trace/text/characters.h"

namespace unstarve::report {
namespace {

/// Of a path as well, which is shortened as a whole or not at all.
bool is_of_a_name(char c) {
  constexpr std::string_view kOthers = "_=./";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         kOthers.find(c) != std::string_view::npos;
}

std::vector<std::string> split(std::string_view lines) {
  std::vector<std::string> parts;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    parts.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return parts;
}

/// Bytes behind the sign that both begin with, back to the beginning of a name.
std::size_t same_before(std::string_view a, std::string_view b) {
  std::size_t at = 1;
  while (at < std::min(a.size(), b.size()) && a[at] == b[at]) ++at;
  while (at > 1 &&
         (is_of_a_name(a[at - 1]) || (at < a.size() && trace::continues_character(a[at]))))
    --at;
  return at;
}

void compare(ChangedLine& gone, ChangedLine& come) {
  const std::string_view a = gone.text;
  const std::string_view b = come.text;
  const std::size_t start = same_before(a, b);
  std::size_t tail = 0;
  while (tail < std::min(a.size(), b.size()) - start &&
         a[a.size() - tail - 1] == b[b.size() - tail - 1]) {
    ++tail;
  }
  while (tail > 0 &&
         (is_of_a_name(a[a.size() - tail]) || trace::continues_character(a[a.size() - tail])))
    --tail;
  gone.start = come.start = start;
  gone.end = a.size() - tail;
  come.end = b.size() - tail;
}

/// Moves an offset back to where a character begins.
std::size_t at_character(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && trace::continues_character(text[at])) --at;
  return at;
}

}  // namespace

std::vector<ChangedLine> changed_lines(std::string_view lines) {
  std::vector<ChangedLine> changed;
  for (std::string& text : split(lines)) {
    const std::size_t size = text.size();
    changed.push_back({std::move(text), std::min<std::size_t>(1, size), size});
  }
  const auto sign = [&](std::size_t i) {
    return i < changed.size() && !changed[i].text.empty() ? changed[i].text.front() : ' ';
  };
  for (std::size_t i = 0; i < changed.size();) {
    std::size_t gone = i;
    while (sign(gone) == '-') ++gone;
    std::size_t come = gone;
    while (sign(come) == '+') ++come;
    if (gone - i == come - gone) {
      for (std::size_t k = 0; k < gone - i; ++k) compare(changed[i + k], changed[gone + k]);
    }
    i = std::max(come, i + 1);
  }
  return changed;
}

std::string around_the_change(const ChangedLine& line, std::size_t most,
                              std::string_view ellipsis) {
  const std::string_view text = line.text;
  if (text.size() <= most || text.empty()) return line.text;
  const std::size_t changed = line.end - line.start;
  // The sign, and both ellipses with a blank beside each.
  const std::size_t taken = changed + 1 + 2 * (ellipsis.size() + 1);
  const std::size_t side = most > taken ? (most - taken) / 2 : 0;
  const std::size_t from = at_character(text, line.start > side + 1 ? line.start - side : 1);
  const std::size_t to = at_character(text, std::min(line.end + side, text.size()));
  std::string shown(1, text.front());
  if (from > 1) shown += std::string(" ") + std::string(ellipsis);
  shown += text.substr(from, to - from);
  return to < text.size() ? shown + std::string(ellipsis) : shown;
}

std::string lines_that_change(std::string_view diff) {
  std::string changed;
  bool in_hunk = false;
  for (const std::string& line : split(diff)) {
    in_hunk = in_hunk || line.starts_with("@@");
    const bool changes = line.starts_with('+') || line.starts_with('-');
    if (in_hunk && changes) changed += line + "\n";
  }
  return changed;
}

}  // namespace unstarve::report
