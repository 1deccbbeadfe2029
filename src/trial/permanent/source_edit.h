#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trial/permanent/python_call.h"

namespace unstarve::trial {

/// Texts that take the place of others, by where those begin.
struct Replacement {
  std::size_t length = 0;
  std::string text;
};
using Replacements = std::map<std::size_t, Replacement>;

/// Arguments of a call by their names, as they are written: {"num_workers", "8"}.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// Gives a call's arguments other values, and adds those that it does not give. False where one may
/// be given already by something that is not read here: unpacked, or by its place, which it may be
/// behind the first `most_by_place`.
bool set_arguments(std::string_view source, const PythonCall& call, const NamedValues& values,
                   std::size_t most_by_place, Replacements& replacements);

/// A new line behind the one in which `at` is, which has an end like that one's.
void append_line(std::string_view source, std::size_t at, const std::string& text,
                 Replacements& replacements);

std::size_t line_start(std::string_view source, std::size_t at);
/// Of the line's text: before "\n" or "\r\n", or where the source ends.
std::size_t line_end(std::string_view source, std::size_t at);

/// Whole lines, [begin, end) without the last one's "\n", and what they become.
struct Hunk {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string fresh;
};
std::vector<Hunk> hunks_of(std::string_view source, const Replacements& replacements);

/// The whole text with what takes the place of its parts.
std::string with_replacements(std::string_view source, const Replacements& replacements);

/// A unified diff with three lines of context, as git writes it, of the file `name` below the
/// folder that it is for: for `patch -p1` and `git apply`. Empty where nothing is replaced.
std::string unified_diff(std::string_view source, const Replacements& replacements,
                         const std::string& name);

}  // namespace unstarve::trial
