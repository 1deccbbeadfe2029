#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

/// By what a folder is known again. Any change of what is in it changes the time.
struct FolderStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;  // time of the last modification
  bool operator==(const FolderStamp&) const = default;
};

// The coarsest time stamps of a file system in use (FAT). A folder or file that changed so shortly
// before it was looked at may change again without a new time.
inline constexpr std::int64_t kCoarsestStampNs = 2'000'000'000;

/// What one folder holds.
struct ListedFolder {
  std::string path;  // below the root; empty: the root itself
  FolderStamp stamp;
  bool trusted = false;              // false: a change may not have moved the time on
  std::vector<std::string> folders;  // names, sorted
  std::vector<std::string> files;    // names of images that are decoded here
  std::string first_other;           // the first name of an image in another format
  std::uint32_t other_count = 0;     // of such images
  std::int64_t known_as = -1;        // what KnownFolders called it: `files` is empty
};

/// Remembers folders from an earlier walk.
/// Thread rule: any thread.
class KnownFolders {
 public:
  virtual ~KnownFolders() = default;
  /// A number of its own for a folder that it can describe and that is unchanged, else -1. Fills in
  /// all of `folder` but the files.
  virtual std::int64_t find(const FolderStamp& stamp, ListedFolder& folder) const = 0;
};

// A cycle of symbolic links would otherwise be walked until names get too long.
inline constexpr int kMaxFolderDepth = 32;

/// The error of a folder that lies deeper than that.
tl::unexpected<Error> fail_too_deep(const std::string& path);
/// The error of a folder that cannot be listed. Linux follows 40 links in a path, fewer when it has
/// to look twice: a cycle may end so before its depth does.
tl::unexpected<Error> fail_to_list(int os_errno, const std::string& path);

/// Lists a folder and all below it, following links, with several threads: listing waits for the
/// file system. Folders that `known` (may be null) still knows are not listed again. The result is
/// in no order. Errors: a folder that cannot be listed, or one too deep for anything but a cycle.
Result<std::vector<ListedFolder>> walk_folders(const std::string& root, const KnownFolders* known);

}  // namespace unstarve::feed
