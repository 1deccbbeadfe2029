#include "report/words/shown_paths.h"

#include <algorithm>
#include <functional>

#include "report/words/utf8.h"

namespace unstarve::report {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kAround = " \t\n\r\"'`()[]{}<>,;=|";

/// Rewrites each stretch of `text` that is a path.
std::string each_path(std::string_view text,
                      const std::function<std::string(std::string_view)>& rewritten) {
  std::string result;
  while (!text.empty()) {
    const std::size_t start = std::min(text.find_first_not_of(kAround), text.size());
    result.append(text.substr(0, start));
    text.remove_prefix(start);
    const std::size_t size = std::min(text.find_first_of(kAround), text.size());
    const std::string_view word = text.substr(0, size);
    result += word.find('/') == std::string_view::npos ? std::string(word) : rewritten(word);
    text.remove_prefix(size);
  }
  return result;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode_at(text, at).bytes) ++count;
  return count;
}

/// The offset of the character with this number.
std::size_t offset_of(std::string_view text, std::size_t number) {
  std::size_t at = 0;
  while (number-- > 0 && at < text.size()) at += decode_at(text, at).bytes;
  return at;
}

std::string cut(std::string_view text, std::size_t most, std::size_t head) {
  const std::size_t count = count_characters(text);
  if (count <= most) return std::string(text);
  return std::string(text.substr(0, offset_of(text, head))) + std::string(kEllipsis) +
         std::string(text.substr(offset_of(text, count - (most - head - 1))));
}

/// The longest name of a path.
std::string_view longest_name(std::string_view path) {
  std::string_view longest;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.size() > longest.size()) longest = name;
    path.remove_prefix(std::min(name.size() + 1, path.size()));
  }
  return longest;
}

std::string without_middle(std::string_view path, std::size_t most) {
  constexpr std::size_t kLeastOfAName = 12;
  const std::size_t count = count_characters(path);
  if (count <= most) return std::string(path);
  const std::string_view name = longest_name(path);
  const std::size_t name_count = count_characters(name);
  if (name_count < count - most + kLeastOfAName) return cut(path, most, most / 4);
  const std::size_t left = name_count - (count - most);
  const auto at = static_cast<std::size_t>(name.data() - path.data());
  return std::string(path.substr(0, at)) + cut(name, left, left / 2) +
         std::string(path.substr(at + name.size()));
}

}  // namespace

std::string relative_paths(std::string_view text, std::string_view folder) {
  if (folder.size() < 2) return std::string(text);
  return each_path(text, [folder](std::string_view path) -> std::string {
    if (path == folder) return ".";
    const bool inside =
        path.size() > folder.size() + 1 && path.starts_with(folder) && path[folder.size()] == '/';
    return std::string(inside ? path.substr(folder.size() + 1) : path);
  });
}

std::string short_paths(std::string_view text, std::size_t most) {
  return each_path(text, [most](std::string_view path) { return without_middle(path, most); });
}

}  // namespace unstarve::report
