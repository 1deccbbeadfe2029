#include "trial/permanent/source_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "base/io/read.h"
#include "trial/permanent/python_call.h"
#include "trial/permanent/source_edit.h"

namespace unstarve::trial {

namespace {

constexpr std::string_view kClass = "DataLoader";
constexpr std::string_view kTorchImport = "from torch.utils.data import ";
// Behind these, DataLoader takes num_workers by its place.
constexpr std::size_t kMostByPlace = 5;
constexpr std::size_t kMostSourceBytes = 4U << 20U;

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view text) {
  Lines lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::string indent_of(const std::string& line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

/// The line of the import that names the class, without those names that stay with torch.
std::optional<std::string> without_class(const std::string& line) {
  const std::string indent = indent_of(line);
  if (line.compare(indent.size(), kTorchImport.size(), kTorchImport) != 0) return std::nullopt;
  const std::string names = line.substr(indent.size() + kTorchImport.size());
  if (names.find_first_of("(\\#;") != std::string::npos) return std::nullopt;
  std::string others;
  bool found = false;
  for (std::size_t from = 0; from <= names.size();) {
    const std::size_t end = std::min(names.find(',', from), names.size());
    std::string name = names.substr(from, end - from);
    name.erase(0, std::min(name.find_first_not_of(" \t"), name.size()));
    name.erase(name.find_last_not_of(" \t\r") + 1);
    if (name == kClass) {
      found = true;
    } else if (!name.empty()) {
      others += (others.empty() ? "" : ", ") + name;
    }
    from = end + 1;
  }
  if (!found) return std::nullopt;
  const std::string ours = indent + "from unstarve import DataLoader";
  return others.empty() ? ours : fmt::format("{}{}{}\n{}", indent, kTorchImport, others, ours);
}

/// Takes the class from unstarve: by its import, or by the name that is called. False: neither.
bool swap_class(std::string_view source, const PythonCall& call, Replacements& replacements) {
  std::size_t at = 0;
  std::optional<std::size_t> first_import;
  const std::string code = code_alone(source);
  for (const std::string& line : lines_of(code)) {
    if (const auto swapped = without_class(line); swapped && call.callee == kClass) {
      const std::string original(source.substr(at, line.size()));
      if (original != line) return false;  // a comment stands behind it
      replacements[at] = {line.size(), *swapped};
      return true;
    }
    const bool imports = line.compare(0, 7, "import ") == 0 || line.compare(0, 5, "from ") == 0;
    if (imports && !first_import && line.find("__future__") == std::string::npos) first_import = at;
    at += line.size() + 1;
  }
  const std::size_t dot = call.callee.rfind('.');
  if (dot == std::string::npos || !first_import) return false;
  replacements[*first_import] = {0, "import unstarve\n"};
  replacements[call.callee_begin] = {call.callee.size(), "unstarve.DataLoader"};
  return true;
}

std::string diff_of(std::string_view source, const Replacements& replacements,
                    const std::string& name) {
  std::string text = fmt::format("--- {0}\n+++ {0}\n", name);
  std::size_t line = 1;
  std::size_t added = 0;
  std::size_t counted = 0;
  for (const Hunk& hunk : hunks_of(source, replacements)) {
    const std::string_view before = source.substr(counted, hunk.begin - counted);
    line += static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    counted = hunk.begin;
    const Lines was = lines_of(source.substr(hunk.begin, hunk.end - hunk.begin));
    const Lines is = lines_of(hunk.fresh);
    text += fmt::format("@@ -{},{} +{},{} @@\n", line, was.size(), line + added, is.size());
    for (const std::string& old : was) text += "-" + old + "\n";
    for (const std::string& fresh : is) text += "+" + fresh + "\n";
    added += is.size() - was.size();  // never fewer
  }
  return text;
}

/// None: there is nothing to change, or it cannot be done safely.
std::optional<Replacements> replacements_for(std::string_view source, std::size_t line,
                                             const LoaderChange& change) {
  if (!change.drop_in && change.arguments.empty()) return std::nullopt;
  const std::optional<PythonCall> call = find_call(source, line, kClass);
  if (!call) return std::nullopt;
  Replacements replacements;
  if (!change.arguments.empty() && call->arguments.empty()) return std::nullopt;  // no data set
  if (!set_arguments(source, *call, change.arguments, kMostByPlace, replacements)) {
    return std::nullopt;
  }
  if (change.drop_in && !swap_class(source, *call, replacements)) return std::nullopt;
  return replacements;
}

std::optional<std::size_t> line_of(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::size_t line = 0;
  const char* const end = place.data() + place.size();
  if (std::from_chars(place.data() + colon + 1, end, line).ptr != end) return std::nullopt;
  return line;
}

/// "train.py" for a file below the working directory, else its whole path.
std::string name_from_here(const std::string& file) {
  std::error_code unknown;
  const std::filesystem::path here = std::filesystem::current_path(unknown);
  const std::filesystem::path below = std::filesystem::path(file).lexically_relative(here);
  const bool is_below = !unknown && !below.empty() && *below.begin() != "..";
  return is_below ? below.string() : file;
}

}  // namespace

std::string source_diff(std::string_view source, std::size_t line, const LoaderChange& change,
                        const std::string& name) {
  const auto replacements = replacements_for(source, line, change);
  return replacements ? diff_of(source, *replacements, name) : std::string();
}

std::optional<SourceChange> change_source(const std::string& file, const std::string& place,
                                          const LoaderChange& change) {
  const auto line = line_of(place);
  if (!line || file.empty()) return std::nullopt;
  io::Files files;
  const auto source = io::read_text(files, file, kMostSourceBytes);  // it may be a folder
  if (!source) return std::nullopt;
  const auto replacements = replacements_for(*source, *line, change);
  if (!replacements) return std::nullopt;
  return SourceChange{file, with_replacements(*source, *replacements),
                      diff_of(*source, *replacements, name_from_here(file))};
}

}  // namespace unstarve::trial
