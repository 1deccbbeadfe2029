#include "trial/permanent/python_call.h"

#include <algorithm>
#include <cctype>

namespace unstarve::trial {

namespace {

bool is_word(char c) {
  return c == '_' || c == '.' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\'; }

/// Behind the string that begins at `at` with a quote.
std::size_t end_of_string(std::string_view source, std::size_t at) {
  const char quote = source[at];
  const std::string_view three = source.substr(at, 3);
  const bool long_one = three.size() == 3 && three[1] == quote && three[2] == quote;
  for (std::size_t i = at + (long_one ? 3 : 1); i < source.size(); ++i) {
    if (source[i] == '\\') {
      ++i;
    } else if (long_one ? source.substr(i, 3) == three : source[i] == quote) {
      return i + (long_one ? 3 : 1);
    } else if (!long_one && source[i] == '\n') {
      return i;  // no Python: it ends where the line does
    }
  }
  return source.size();
}

std::size_t line_of(std::string_view source, std::size_t at) {
  const std::string_view before = source.substr(0, at);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

/// The bracket that closes the one at `open`; npos where none does.
std::size_t closing(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(' || code[i] == '[' || code[i] == '{') ++depth;
    if ((code[i] == ')' || code[i] == ']' || code[i] == '}') && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// The text with all from `begin` to `end` blank, but for the ends of lines.
void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

/// The source with comments blank, and strings too where they are not to be kept.
std::string without_comments(std::string_view source, bool keep_strings) {
  std::string code(source);
  for (std::size_t i = 0; i < source.size();) {
    std::size_t end = i + 1;
    if (source[i] == '#') {
      end = std::min(source.find('\n', i), source.size());
      blank(code, i, end);
    } else if (source[i] == '"' || source[i] == '\'') {
      end = end_of_string(source, i);
      if (!keep_strings) blank(code, i, end);
    }
    i = end;
  }
  return code;
}

/// The argument in [begin, end) of the code; nothing where there is but space.
std::optional<PythonArgument> argument_in(std::string_view code, std::string_view source,
                                          std::size_t begin, std::size_t end) {
  // A string is blank in the code, so that where an argument ends is looked up in the source.
  while (begin < end && is_space(source[begin])) ++begin;
  while (end > begin && is_space(source[end - 1])) --end;
  if (begin == end) return std::nullopt;
  PythonArgument argument;
  argument.value_begin = begin;
  argument.value_end = end;
  if (code[begin] == '*') {
    argument.name = code[begin + 1] == '*' ? "**" : "*";
    return argument;
  }
  std::size_t at = begin;
  while (at < end && is_word(code[at])) ++at;
  const std::size_t name_end = at;
  while (at < end && is_space(code[at])) ++at;
  const bool named = name_end > begin && at + 1 < end && code[at] == '=' && code[at + 1] != '=';
  if (!named) return argument;
  argument.name = std::string(code.substr(begin, name_end - begin));
  argument.value_begin = at + 1;
  while (argument.value_begin < end && is_space(source[argument.value_begin])) {
    ++argument.value_begin;
  }
  return argument;
}

void read_arguments(std::string_view code, std::string_view source, PythonCall& call) {
  int depth = 0;
  std::size_t begin = call.open + 1;
  for (std::size_t i = begin; i <= call.close; ++i) {
    const char c = code[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    const bool ends = i == call.close || (c == ',' && depth == 0);
    if (ends) {
      const auto argument = argument_in(code, source, begin, i);
      if (argument) call.arguments.push_back(*argument);
      call.trailing_comma = i == call.close && !argument && !call.arguments.empty();
      begin = i + 1;
    }
    if (c == ')' || c == ']' || c == '}') --depth;
  }
}

}  // namespace

std::string code_alone(std::string_view source) { return without_comments(source, false); }

std::vector<PythonCall> calls_of(std::string_view source, std::string_view name) {
  const std::string code = code_alone(source);
  const std::string bare = without_comments(source, true);
  std::vector<PythonCall> found;
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    PythonCall call;
    std::size_t end = at + name.size();
    while (end < code.size() && (code[end] == ' ' || code[end] == '\t')) ++end;
    if (end >= code.size() || code[end] != '(') continue;
    call.open = end;
    call.callee_begin = at;
    while (call.callee_begin > 0 && is_word(code[call.callee_begin - 1])) --call.callee_begin;
    call.close = closing(code, call.open);
    if (call.close == std::string::npos) continue;
    call.callee = code.substr(call.callee_begin, at + name.size() - call.callee_begin);
    read_arguments(code, bare, call);
    found.push_back(std::move(call));
  }
  return found;
}

std::optional<PythonCall> find_call(std::string_view source, std::size_t line,
                                    std::string_view name) {
  std::optional<PythonCall> found;
  for (PythonCall& call : calls_of(source, name)) {
    if (line_of(source, call.callee_begin) > line || line_of(source, call.close) < line) continue;
    found = std::move(call);  // a later one lies within the earlier, or behind it on the line
  }
  return found;
}

}  // namespace unstarve::trial
