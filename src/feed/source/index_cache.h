#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "feed/source/folder_index.h"

namespace unstarve::feed {

/// Keeps indexes of folders in files, one for each root. A file is mapped, not read: its memory is
/// shared by all processes that use it. Files that are damaged, of another format or owned by
/// another user count as not there; new ones appear whole or not at all.
/// Thread rule: any thread; any number of processes.
class IndexCache {
 public:
  /// `folder` is made when something is stored; empty: nothing is ever kept.
  explicit IndexCache(std::string folder) : folder_(std::move(folder)) {}
  /// $XDG_CACHE_HOME/unstarve/index or $HOME/.cache/unstarve/index; empty where neither is set.
  static std::string default_folder();

  /// `root` is a path without links.
  std::optional<FolderIndex> load(const std::string& root) const;
  Status store(const std::string& root, const FolderIndex& index) const;
  /// The file for `root`.
  std::string path_of(const std::string& root) const;

 private:
  std::string folder_;
};

}  // namespace unstarve::feed
