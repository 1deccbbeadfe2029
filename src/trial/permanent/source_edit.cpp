#include "trial/permanent/source_edit.h"

#include <fmt/format.h>

#include <algorithm>

namespace unstarve::trial {

namespace {

constexpr std::size_t kContext = 3;

using EndedLines = std::vector<std::string_view>;  // with their ends

EndedLines ended_lines_of(std::string_view text) {
  EndedLines lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    lines.push_back(text.substr(from, end - from));
    from = end;
  }
  return lines;
}

std::string_view indent_of(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

std::string_view line_break_at(std::string_view source, std::size_t end) {
  return source.substr(end, 1) == "\r" ? "\r\n" : "\n";
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// New arguments behind the last one: on lines of their own where that has one.
void append_arguments(std::string_view source, const PythonCall& call, const std::string& text,
                      Replacements& replacements) {
  if (call.arguments.empty()) {
    replacements[call.open + 1] = {0, text};
    return;
  }
  const PythonArgument& last = call.arguments.back();
  const std::size_t begin = line_start(source, last.value_begin);
  if (begin > call.open && call.trailing_comma) {
    const std::string code = code_alone(source);
    std::size_t behind = code.find(',', last.value_end) + 1;
    const std::size_t end = line_end(source, behind);
    if (is_blank(std::string_view(code).substr(behind, end - behind))) behind = end;
    replacements[behind] = {0, fmt::format("{}{}{},", line_break_at(source, end),
                                           indent_of(source.substr(begin)), text)};
  } else if (call.trailing_comma) {
    replacements[call.close] = {0, " " + text};
  } else {
    replacements[last.value_end] = {0, ", " + text};
  }
}

/// `f(x for x in rows)`, which takes no second argument.
bool is_lone_generator(std::string_view source, const PythonCall& call) {
  if (call.arguments.size() != 1 || !call.arguments.front().name.empty()) return false;
  const PythonArgument& only = call.arguments.front();
  const std::string_view text = source.substr(only.value_begin, only.value_end - only.value_begin);
  return text.find(" for ") != std::string_view::npos;
}

/// Lines of the source that change, counted from 0, without those at either end that stay.
struct Change {
  std::size_t line = 0;
  std::vector<std::string> was;
  std::vector<std::string> is;
};

std::vector<Change> changes_of(std::string_view source, const Replacements& replacements) {
  std::vector<Change> changes;
  for (const Hunk& hunk : hunks_of(source, replacements)) {
    const std::string_view ending = source.substr(hunk.end, 1);  // nothing at the source's end
    const std::string old(source.substr(hunk.begin, hunk.end + ending.size() - hunk.begin));
    const std::string fresh = hunk.fresh + std::string(ending);
    const EndedLines was = ended_lines_of(old);
    const EndedLines is = ended_lines_of(fresh);
    const auto differ = std::mismatch(was.begin(), was.end(), is.begin(), is.end());
    const auto same = std::mismatch(was.rbegin(), std::make_reverse_iterator(differ.first),
                                    is.rbegin(), std::make_reverse_iterator(differ.second));
    const std::string_view before = source.substr(0, hunk.begin);
    Change change;
    change.line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n') +
                                           (differ.first - was.begin()));
    change.was = {differ.first, same.first.base()};
    change.is = {differ.second, same.second.base()};
    changes.push_back(std::move(change));
  }
  return changes;
}

void add_lines(char sign, const std::vector<std::string>& lines, std::string& text) {
  for (const std::string& line : lines) {
    text += sign + line;
    if (line.empty() || line.back() != '\n') text += "\n\\ No newline at end of file\n";
  }
}

}  // namespace

bool set_arguments(std::string_view source, const PythonCall& call, const NamedValues& values,
                   std::size_t most_by_place, Replacements& replacements) {
  if (values.empty()) return true;
  std::size_t by_place = 0;
  bool unpacks = false;
  for (const PythonArgument& argument : call.arguments) {
    by_place += argument.name.empty();
    unpacks = unpacks || (!argument.name.empty() && argument.name.front() == '*');
  }
  if (by_place > most_by_place) return false;
  std::string more;
  for (const auto& [name, value] : values) {
    const auto given = std::find_if(
        call.arguments.begin(), call.arguments.end(),
        [&name = name](const PythonArgument& argument) { return argument.name == name; });
    if (given != call.arguments.end()) {
      replacements[given->value_begin] = {given->value_end - given->value_begin, value};
    } else {
      more += fmt::format("{}{}={}", more.empty() ? "" : ", ", name, value);
    }
  }
  if (more.empty()) return true;
  if (unpacks || is_lone_generator(source, call)) return false;
  append_arguments(source, call, more, replacements);
  return true;
}

void append_line(std::string_view source, std::size_t at, const std::string& text,
                 Replacements& replacements) {
  const std::size_t end = line_end(source, at);
  Replacement& here = replacements[end];
  here.text += std::string(line_break_at(source, end)) + text;
}

std::size_t line_start(std::string_view source, std::size_t at) {
  return at == 0 ? 0 : source.rfind('\n', at - 1) + 1;
}

std::size_t line_end(std::string_view source, std::size_t at) {
  const std::size_t end = std::min(source.find('\n', at), source.size());
  return end > at && end < source.size() && source[end - 1] == '\r' ? end - 1 : end;
}

std::vector<Hunk> hunks_of(std::string_view source, const Replacements& replacements) {
  std::vector<Hunk> hunks;
  std::size_t copied = 0;  // of the source, so far
  const auto finish = [&] {
    if (!hunks.empty()) hunks.back().fresh += source.substr(copied, hunks.back().end - copied);
  };
  for (const auto& [at, replacement] : replacements) {
    if (hunks.empty() || line_start(source, at) > hunks.back().end + 1) {
      finish();
      const std::size_t begin = line_start(source, at);
      hunks.push_back({begin, begin, ""});
      copied = begin;
    }
    Hunk& hunk = hunks.back();
    hunk.fresh += source.substr(copied, at - copied);
    hunk.fresh += replacement.text;
    copied = at + replacement.length;
    hunk.end = std::min(source.find('\n', copied), source.size());
  }
  finish();
  return hunks;
}

std::string with_replacements(std::string_view source, const Replacements& replacements) {
  std::string text;
  std::size_t copied = 0;
  for (const auto& [at, replacement] : replacements) {
    text += source.substr(copied, at - copied);
    text += replacement.text;
    copied = at + replacement.length;
  }
  return text += source.substr(copied);
}

std::string unified_diff(std::string_view source, const Replacements& replacements,
                         const std::string& name) {
  const std::vector<Change> changes = changes_of(source, replacements);
  if (changes.empty()) return {};
  std::vector<std::string> lines;
  for (const std::string_view line : ended_lines_of(source)) lines.emplace_back(line);
  const auto part = [&lines](std::size_t from, std::size_t to) {
    const auto at = [&lines](std::size_t i) {
      return lines.begin() + static_cast<std::ptrdiff_t>(std::min(i, lines.size()));
    };
    return std::vector<std::string>(at(from), at(to));
  };
  std::string text = fmt::format("--- a/{0}\n+++ b/{0}\n", name);
  std::ptrdiff_t shift = 0;  // of lines behind a change
  for (std::size_t i = 0; i < changes.size();) {
    const std::size_t begin = i;
    const std::size_t first = changes[i].line - std::min(changes[i].line, kContext);
    std::size_t at = first;
    std::ptrdiff_t grows = 0;
    std::string body;
    for (; i < changes.size(); ++i) {
      const Change& change = changes[i];
      if (i > begin && change.line > at + 2 * kContext) break;
      add_lines(' ', part(at, change.line), body);
      add_lines('-', change.was, body);
      add_lines('+', change.is, body);
      at = change.line + change.was.size();
      grows += static_cast<std::ptrdiff_t>(change.is.size()) -
               static_cast<std::ptrdiff_t>(change.was.size());
    }
    add_lines(' ', part(at, at + kContext), body);
    const std::size_t count = std::min(at + kContext, lines.size()) - first;
    text += fmt::format("@@ -{},{} +{},{} @@\n", first + 1, count,
                        static_cast<std::ptrdiff_t>(first) + 1 + shift,
                        static_cast<std::ptrdiff_t>(count) + grows);
    text += body;
    shift += grows;
  }
  return text;
}

}  // namespace unstarve::trial
