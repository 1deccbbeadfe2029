#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "feed/source/tar_source.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;

// Of the names that a pattern of ranges stands for.
constexpr std::size_t kMaxNames = 1'000'000;
// Of a folder's entries: a million images need not all be seen to tell that they are no tars.
constexpr std::size_t kMaxSeen = 1000;

bool ends_in_tar(std::string_view name) {
  return name.size() > 4 && name.substr(name.size() - 4) == ".tar";
}

struct Range {
  std::size_t begin = 0;  // of the brace
  std::size_t end = 0;    // past the other
  unsigned first = 0;
  unsigned last = 0;
  std::size_t digits = 0;
};

/// The first `{000..146}` in a pattern; `end` is 0 where there is none.
Range find_range(std::string_view pattern) {
  for (std::size_t open = pattern.find('{'); open != std::string_view::npos;
       open = pattern.find('{', open + 1)) {
    const std::size_t close = pattern.find('}', open);
    if (close == std::string_view::npos) break;
    const std::string_view inside = pattern.substr(open + 1, close - open - 1);
    const std::size_t dots = inside.find("..");
    if (dots == std::string_view::npos || dots == 0) continue;
    Range range{open, close + 1, 0, 0, dots};
    const char* middle = inside.data() + dots;
    const char* end = inside.data() + inside.size();
    const auto first = std::from_chars(inside.data(), middle, range.first);
    const auto last = std::from_chars(middle + 2, end, range.last);
    if (first.ec == std::errc() && first.ptr == middle && last.ec == std::errc() &&
        last.ptr == end && range.first <= range.last) {
      return range;
    }
  }
  return {};
}

/// Ranges written out; each result may still hold `*` and `{a,b}`.
Result<std::vector<std::string>> expand_ranges(const std::string& pattern) {
  std::vector<std::string> names = {pattern};
  for (Range range = find_range(names[0]); range.end != 0; range = find_range(names[0])) {
    const std::size_t count = std::size_t{range.last} - range.first + 1;
    if (count > kMaxNames / names.size()) {
      return fail(ErrorCode::kInvalidArgument, "{} stands for more than {} files", pattern,
                  kMaxNames);
    }
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      const Range here = find_range(name);
      for (unsigned number = here.first; number - here.first < count; ++number) {
        longer.push_back(fmt::format("{}{:0{}}{}", name.substr(0, here.begin), number, here.digits,
                                     name.substr(here.end)));
      }
    }
    names = std::move(longer);
  }
  return names;
}

Status add_matches(const std::string& pattern, std::vector<std::string>& found) {
  glob_t matches = {};
  const int failed = ::glob(pattern.c_str(), GLOB_BRACE | GLOB_ERR, nullptr, &matches);
  const std::unique_ptr<glob_t, decltype(&::globfree)> freed(&matches, &::globfree);
  if (failed == GLOB_NOMATCH) return fail(ErrorCode::kNotFound, "no file is named {}", pattern);
  if (failed != 0) return fail(ErrorCode::kIo, "cannot look for {}", pattern);
  found.insert(found.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  return {};
}

Result<std::vector<std::string>> list_tars(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (ends_in_tar(entry->path().native())) found.push_back(entry->path().string());
  }
  if (error) return fail_errno(error.value(), fmt::format("cannot list {}", folder));
  return found;
}

}  // namespace

bool TarSource::is_tars(const std::string& path) {
  if (ends_in_tar(path)) return true;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  for (std::size_t seen = 0; !error && entry != fs::directory_iterator() && seen < kMaxSeen;
       ++seen) {
    if (ends_in_tar(entry->path().native())) return true;
    entry.increment(error);
  }
  return false;
}

Result<std::vector<std::string>> find_tars(const std::string& path) {
  std::error_code error;
  std::vector<std::string> found;
  if (fs::is_directory(path, error)) {
    Result<std::vector<std::string>> listed = list_tars(path);
    if (!listed) return forward_error(listed);
    found = std::move(*listed);
  } else if (fs::exists(path, error)) {
    found.push_back(path);
  } else {
    const Result<std::vector<std::string>> patterns = expand_ranges(path);
    if (!patterns) return forward_error(patterns);
    for (const std::string& pattern : *patterns) {
      if (Status status = add_matches(pattern, found); !status) return forward_error(status);
    }
  }
  if (found.empty()) return fail(ErrorCode::kNotFound, "{} holds no .tar", path);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace unstarve::feed
