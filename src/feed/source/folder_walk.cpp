#include "feed/source/folder_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "feed/formats/image_format.h"

namespace unstarve::feed {
namespace {

// On a network's file system each folder is a wait; on a local one the CPUs are the limit.
constexpr int kThreads = 8;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

/// Links are followed; what they lead to is not there counts as a file.
bool is_folder(DIR* directory, const dirent& entry) {
  if (entry.d_type == DT_DIR) return true;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return false;
  struct stat status = {};
  return ::fstatat(::dirfd(directory), entry.d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

void add_file(std::string_view name, ListedFolder& folder) {
  switch (kind_of_name(name)) {
    case NameKind::kImage: folder.files.emplace_back(name); break;
    case NameKind::kOtherImage:
      if (folder.other_count++ == 0 || name < folder.first_other) folder.first_other = name;
      break;
    case NameKind::kNoImage: break;
  }
}

Status list_folder(const std::string& full_path, ListedFolder& folder) {
  const Directory directory(::opendir(full_path.c_str()));
  if (directory == nullptr) return fail_to_list(errno, full_path);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (is_folder(directory.get(), *entry)) {
      folder.folders.emplace_back(name);
    } else {
      add_file(name, folder);
    }
  }
  if (errno != 0) return fail_to_list(errno, full_path);
  std::sort(folder.folders.begin(), folder.folders.end());
  std::sort(folder.files.begin(), folder.files.end());
  return {};
}

/// Folders still to be listed, and those that are.
class Walk {
 public:
  Walk(const std::string& root, const KnownFolders* known) : root_(root), known_(known) {
    to_do_.push_back({});
  }

  /// Lists until nothing is left; several threads may run it.
  void run() UNSTARVE_EXCLUDES(mutex_) {
    while (std::optional<Item> item = take()) finish(visit(*item), item->depth);
  }

  Result<std::vector<ListedFolder>> result() UNSTARVE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (error_) return tl::unexpected<Error>(*error_);
    return std::move(done_);
  }

 private:
  struct Item {
    std::string path;
    int depth = 0;
  };

  std::optional<Item> take() UNSTARVE_EXCLUDES(mutex_);
  Result<ListedFolder> visit(const Item& item) const noexcept;
  Result<ListedFolder> stat_and_list(const Item& item) const;
  void finish(Result<ListedFolder> folder, int depth) noexcept UNSTARVE_EXCLUDES(mutex_);
  void keep(ListedFolder&& folder, int depth) UNSTARVE_REQUIRES(mutex_);

  const std::string& root_;
  const KnownFolders* known_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Item> to_do_ UNSTARVE_GUARDED_BY(mutex_);
  std::vector<ListedFolder> done_ UNSTARVE_GUARDED_BY(mutex_);
  int at_work_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ UNSTARVE_GUARDED_BY(mutex_);
};

std::optional<Walk::Item> Walk::take() {
  MutexLock lock(mutex_);
  while (to_do_.empty() && at_work_ > 0) changed_.wait(mutex_);
  if (to_do_.empty()) return std::nullopt;
  Item item = std::move(to_do_.back());
  to_do_.pop_back();
  ++at_work_;
  return item;
}

Result<ListedFolder> Walk::visit(const Item& item) const noexcept {
  try {
    return stat_and_list(item);
  } catch (...) {
    return tl::unexpected<Error>(caught_error());
  }
}

Result<ListedFolder> Walk::stat_and_list(const Item& item) const {
  const std::string full_path = item.path.empty() ? root_ : root_ + "/" + item.path;
  if (item.depth > kMaxFolderDepth) return fail_too_deep(full_path);
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  struct stat status = {};
  // Before it is listed: what changes from here on shows as another time.
  if (::stat(full_path.c_str(), &status) != 0) return fail_to_list(errno, full_path);
  ListedFolder folder;
  folder.path = item.path;
  folder.stamp = {status.st_dev, status.st_ino, nanoseconds(status.st_mtim)};
  folder.trusted = folder.stamp.changed_ns < nanoseconds(now) - kCoarsestStampNs;
  if (known_ != nullptr) folder.known_as = known_->find(folder.stamp, folder);
  if (folder.known_as >= 0) return folder;
  if (Status listed = list_folder(full_path, folder); !listed) return forward_error(listed);
  return folder;
}

void Walk::finish(Result<ListedFolder> folder, int depth) noexcept {
  MutexLock lock(mutex_);
  --at_work_;
  if (!folder) {
    // The first in the alphabet, so that the same folder gives the same message.
    if (!error_ || folder.error().message < error_->message) error_ = std::move(folder).error();
    to_do_.clear();
  } else if (!error_) {
    try {
      keep(std::move(*folder), depth);
    } catch (...) {
      error_ = caught_error();
      to_do_.clear();
    }
  }
  changed_.notify_all();
}

void Walk::keep(ListedFolder&& folder, int depth) {
  const std::string prefix = folder.path.empty() ? "" : folder.path + "/";
  for (const std::string& name : folder.folders) to_do_.push_back({prefix + name, depth + 1});
  done_.push_back(std::move(folder));
}

}  // namespace

tl::unexpected<Error> fail_too_deep(const std::string& path) {
  return fail(ErrorCode::kInvalidArgument,
              "{} lies more than {} folders deep: is there a cycle of links?", path,
              kMaxFolderDepth);
}

tl::unexpected<Error> fail_to_list(int os_errno, const std::string& path) {
  if (os_errno == ELOOP) {
    return fail(ErrorCode::kInvalidArgument,
                "{} lies behind too many links to be listed: is there a cycle of links?", path);
  }
  return fail_errno(os_errno, fmt::format("cannot list {}", path));
}

Result<std::vector<ListedFolder>> walk_folders(const std::string& root, const KnownFolders* known) {
  Walk walk(root, known);
  {
    std::vector<std::jthread> threads;
    try {
      for (int i = 1; i < kThreads; ++i) threads.emplace_back([&walk] { walk.run(); });
    } catch (const std::exception&) {
      // Those that could be started do the work, this one at least.
    }
    walk.run();
  }
  return walk.result();
}

}  // namespace unstarve::feed
