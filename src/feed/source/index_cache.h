#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "feed/source/folder_index.h"

namespace unstarve::feed {

/// Keeps indexes of folders and archives in files, one for each. A file is mapped, not read: its
/// memory is shared by all processes that use it. Files that are damaged, of another format or
/// owned by another user count as not there; new ones appear whole or not at all. Thread rule: any
/// thread; any number of processes.
class IndexCache {
 public:
  /// `folder` is made when something is stored; empty: nothing is ever kept.
  explicit IndexCache(std::string folder) : folder_(std::move(folder)) {}
  /// $XDG_CACHE_HOME/unstarve/index or $HOME/.cache/unstarve/index; empty where neither is set.
  static std::string default_folder();

  /// What was stored for `name` with this `ending`; null where there is nothing.
  std::shared_ptr<const IndexBytes> load_bytes(const std::string& name,
                                               std::string_view ending) const;
  Status store_bytes(const std::string& name, std::string_view ending,
                     std::span<const std::byte> bytes) const;

  /// `root` is a path without links.
  std::optional<FolderIndex> load(const std::string& root) const;
  Status store(const std::string& root, const FolderIndex& index) const;
  /// The file for `name`.
  std::string path_of(const std::string& name, std::string_view ending = "folder") const;

 private:
  std::string folder_;
};

}  // namespace unstarve::feed
