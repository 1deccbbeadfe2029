#include "feed/source/list_source.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace unstarve::feed {
namespace {

/// The path that begins at `begin`, without its zero byte.
std::string_view path_at(std::string_view paths, std::size_t begin) {
  return paths.substr(begin, paths.find('\0', begin) - begin);
}

/// What all paths begin with.
std::string_view common_prefix(std::string_view paths) {
  std::string_view common = path_at(paths, 0);
  for (std::size_t begin = 0; begin < paths.size();) {
    const std::string_view path = path_at(paths, begin);
    const auto length = std::min(common.size(), path.size());
    const auto* apart = std::mismatch(common.begin(), common.begin() + length, path.begin()).first;
    common = common.substr(0, static_cast<std::size_t>(apart - common.begin()));
    begin += path.size() + 1;
  }
  return common;
}

}  // namespace

Result<std::shared_ptr<ListSource>> ListSource::open(List list, std::shared_ptr<io::Files> files) {
  const auto count = std::count(list.paths.begin(), list.paths.end(), '\0');
  if (list.labels.empty() || static_cast<std::size_t>(count) != list.labels.size() ||
      list.paths.back() != '\0') {
    return fail(ErrorCode::kInvalidArgument,
                "a list of {} paths with {} labels: give as many of both, at least one", count,
                list.labels.size());
  }
  return std::shared_ptr<ListSource>(new ListSource(std::move(list), std::move(files)));
}

ListSource::ListSource(List list, std::shared_ptr<io::Files> files)
    : labels_(std::move(list.labels)),
      max_file_bytes_(list.max_file_bytes),
      files_(std::move(files)) {
  keep_paths(list.paths);
  fingerprint_ = XXH3_64bits(labels_.data(), labels_.size() * sizeof(labels_[0]));
  fingerprint_ = XXH3_64bits_withSeed(list.paths.data(), list.paths.size(), fingerprint_);
}

void ListSource::keep_paths(std::string_view paths) {
  prefix_ = common_prefix(paths);
  rests_.reserve(paths.size() - labels_.size() * (prefix_.size() + 1));
  ends_.reserve(labels_.size());
  for (std::size_t begin = 0; begin < paths.size();) {
    const std::string_view path = path_at(paths, begin);
    rests_.append(path.substr(prefix_.size()));
    ends_.push_back(rests_.size());
    begin += path.size() + 1;
  }
}

void ListSource::write_path(std::uint64_t index, std::string& path) const {
  const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
  path.assign(prefix_).append(rests_, begin, ends_[index] - begin);
}

std::string ListSource::locate(std::uint64_t index) const {
  std::string path;
  write_path(index, path);
  return path;
}

Result<std::unique_ptr<SampleReader>> ListSource::open_reader() {
  return std::unique_ptr<SampleReader>(
      std::make_unique<ListedFilesReader<ListSource>>(*this, *files_, max_file_bytes_));
}

}  // namespace unstarve::feed
