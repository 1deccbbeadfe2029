#include "report/words/shown_paths.h"

#include <algorithm>
#include <optional>

#include "report/words/utf8.h"

namespace unstarve::report {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kAround = " \t\n\r\"'`()[]{}<>,;=|";

/// Visits the text in pieces, each a path or what stands between two.
template <class Visit>  // takes a text, and whether it is a path
void each_piece(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t start = std::min(text.find_first_not_of(kAround), text.size());
    if (start > 0) visit(text.substr(0, start), false);
    text.remove_prefix(start);
    const std::size_t size = std::min(text.find_first_of(kAround), text.size());
    const std::string_view word = text.substr(0, size);
    if (size > 0) visit(word, word.find('/') != std::string_view::npos);
    text.remove_prefix(size);
  }
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

/// Bytes of a text that are left out; none where both are the same.
struct LeftOut {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// So that `most` characters stay, with the ellipsis, `head` of them before it.
LeftOut middle_of(std::string_view text, std::size_t most, std::size_t head) {
  const std::size_t count = count_characters(text);
  if (count <= most) return {};
  return {offset_of(text, head), offset_of(text, count - (most - head - 1))};
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

LeftOut left_out_of(std::string_view path, std::size_t most) {
  constexpr std::size_t kLeastOfAName = 12;
  const std::size_t count = count_characters(path);
  if (count <= most) return {};
  const std::string_view name = longest_name(path);
  const std::size_t name_count = count_characters(name);
  if (name_count < count - most + kLeastOfAName) return middle_of(path, most, most / 4);
  const std::size_t left = name_count - (count - most);
  const auto at = static_cast<std::size_t>(name.data() - path.data());
  const LeftOut of_name = middle_of(name, left, left / 2);
  return {at + of_name.from, at + of_name.to};
}

/// Whether it ends as "train.py:41" does, or "train.py:41." at a sentence's end.
bool is_place(std::string_view path) {
  path = path.substr(0, path.find_last_not_of(".:") + 1);
  const std::size_t colon = path.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == path.size()) return false;
  return path.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

bool lies_in(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() + 1 && path.starts_with(folder) && path[folder.size()] == '/';
}

}  // namespace

std::string relative_paths(std::string_view text, std::string_view folder) {
  if (folder.size() < 2) return std::string(text);
  std::string result;
  each_piece(text, [&](std::string_view piece, bool is_path) {
    const bool inside = is_path && lies_in(piece, folder);
    if (is_path && piece == folder) {
      result += '.';
    } else {
      result += inside ? piece.substr(folder.size() + 1) : piece;
    }
  });
  return result;
}

std::string relative_places(std::string_view text, std::string_view folder) {
  if (folder.empty()) return std::string(text);
  std::string result;
  each_piece(text, [&](std::string_view piece, bool is_path) {
    const bool inside = is_path && is_place(piece) && lies_in(piece, folder);
    result += inside ? piece.substr(folder.size() + 1) : piece;
  });
  return result;
}

std::string common_folder(const std::vector<std::string>& places) {
  std::optional<std::string_view> common;
  for (const std::string_view place : places) {
    if (!place.starts_with('/') || !is_place(place)) continue;
    const std::string_view folder = place.substr(0, place.rfind('/'));
    if (!common) common = folder;
    while (*common != folder && !lies_in(folder, *common)) {
      common = common->substr(0, std::min(common->rfind('/'), common->size()));
    }
  }
  if (!common || std::count(common->begin(), common->end(), '/') < 2) return {};
  return std::string(*common);
}

std::vector<ShownPart> short_parts(std::string_view text, std::size_t most) {
  std::vector<ShownPart> parts;
  const auto add = [&parts](std::string_view piece, bool is_cut) {
    if (piece.empty()) return;
    if (!is_cut && !parts.empty() && !parts.back().is_cut) {
      parts.back().text += piece;
    } else {
      parts.push_back({std::string(piece), is_cut});
    }
  };
  each_piece(text, [&](std::string_view piece, bool is_path) {
    const LeftOut left_out = is_path ? left_out_of(piece, most) : LeftOut();
    add(piece.substr(0, left_out.from), false);
    add(piece.substr(left_out.from, left_out.to - left_out.from), true);
    add(piece.substr(left_out.to), false);
  });
  return parts;
}

std::string short_paths(std::string_view text, std::size_t most) {
  std::string result;
  for (const ShownPart& part : short_parts(text, most)) {
    result += part.is_cut ? kEllipsis : std::string_view(part.text);
  }
  return result;
}

}  // namespace unstarve::report
