#include "isolation/layer_plan.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace unstarve::isolation {

namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 3;
constexpr std::size_t kMostLooks = 4'000;  // some 50 ms
// What only an administrator writes to, where that is so.
constexpr std::array<std::string_view, 9> kOfTheAdministrator = {
    "/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr"};
// Not of files, whatever is mounted there.
constexpr std::array<std::string_view, 5> kFoldersOfTheSystem = {"/dev", "/proc", "/run", "/sys",
                                                                 "/lost+found"};

template <class List>
bool contains(const List& list, const std::string& path) {
  return std::find(list.begin(), list.end(), path) != list.end();
}

std::string child_of(const std::string& folder, const std::string& name) {
  return folder == "/" ? "/" + name : folder + "/" + name;
}

std::ptrdiff_t depth_of(const std::string& point) {
  return point == "/" ? 0 : std::count(point.begin(), point.end(), '/');
}

/// Of those at one point the last, which hides the others.
std::vector<Mount> visible(const std::vector<Mount>& mounts) {
  std::vector<Mount> seen;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const auto same = [&](const Mount& later) { return later.point == mounts[i].point; };
    const auto behind = mounts.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::none_of(behind, mounts.end(), same)) seen.push_back(mounts[i]);
  }
  // The table has them by age, and the root may be younger than what is mounted in it.
  std::stable_sort(seen.begin(), seen.end(), [](const Mount& a, const Mount& b) {
    return depth_of(a.point) < depth_of(b.point);
  });
  return seen;
}

class UserPlan {
 public:
  UserPlan(const std::vector<Mount>& mounts, const Folders& folders,
           const std::vector<std::string>& known)
      : mounts_(mounts), folders_(folders), known_(known) {}

  Status cover(const std::string& folder, unsigned long flags) {
    if (contains(kFoldersOfTheSystem, folder)) return {};
    const bool is_writable = folders_.can_write(folder);
    const bool is_administrators = contains(kOfTheAdministrator, folder) && !is_writable;
    if (is_administrators && folder != "/usr") return {};
    if (!is_administrators && !has_mounts_below(folder)) {
      steps_.push_back({MountStep::Kind::kLayer, folder, flags, is_writable});
      cover_below(folder, flags);
      return {};
    }
    if (is_writable) {
      return fail(ErrorCode::kNotSupported,
                  "{} cannot be layered by an ordinary user: another file system is mounted in it",
                  folder);
    }
    for (const std::string& name : folders_.folders_in(folder)) {
      const std::string child = child_of(folder, name);
      if (is_mount(child) || (is_administrators && name != "local")) continue;
      if (const Status covered = cover(child, flags); !covered) return covered;
    }
    return {};
  }

  void keep_read_only(const Mount& file) {
    steps_.push_back({MountStep::Kind::kReadOnly, file.point, file.flags, false});
  }

  std::vector<MountStep> take() { return std::move(steps_); }

 private:
  bool is_mount(const std::string& folder) const {
    return std::any_of(mounts_.begin(), mounts_.end(),
                       [&](const Mount& mount) { return mount.point == folder; });
  }

  bool has_mounts_below(const std::string& folder) const {
    return std::any_of(mounts_.begin(), mounts_.end(), [&](const Mount& mount) {
      return mount.point != folder && lies_in(mount.point, folder);
    });
  }

  /// What cannot be copied up through the layer of `top`.
  void cover_below(const std::string& top, unsigned long flags) {
    if (folders_.is_own(top)) return;
    for (const std::string& folder : known_) cover_on_the_way(top, folder, flags);
    std::deque<std::pair<std::string, int>> left = {{top, 0}};
    while (!left.empty()) {
      const auto [folder, depth] = left.front();
      left.pop_front();
      for (const std::string& name : folders_.folders_in(folder)) {
        if (++looks_ > kMostLooks) return;
        const std::string child = child_of(folder, name);
        if (!cover_one(child, flags) && depth + 1 < kDeepest) left.emplace_back(child, depth + 1);
      }
    }
  }

  void cover_on_the_way(const std::string& top, const std::string& folder, unsigned long flags) {
    if (!lies_in(folder, top)) return;
    for (std::size_t end = top.size(); end < folder.size();) {
      end = std::min(folder.find('/', end + 1), folder.size());
      if (cover_one(folder.substr(0, end), flags)) return;
    }
  }

  /// Whether it is the user's own, below which all can be copied up.
  bool cover_one(const std::string& folder, unsigned long flags) {
    const bool is_own = folders_.is_own(folder);
    const bool is_known = std::any_of(steps_.begin(), steps_.end(),
                                      [&](const MountStep& step) { return step.path == folder; });
    if (!is_known && (is_own || folders_.can_write(folder))) {
      steps_.push_back({MountStep::Kind::kLayer, folder, flags, folders_.can_write(folder)});
    }
    return is_own;
  }

  const std::vector<Mount>& mounts_;
  const Folders& folders_;
  const std::vector<std::string>& known_;
  std::vector<MountStep> steps_;
  std::size_t looks_ = 0;
};

}  // namespace

std::vector<std::string> Folders::folders_in(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code unknown;
    if (entry->symlink_status(unknown).type() == fs::file_type::directory) {
      names.push_back(entry->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Folders::is_folder(const std::string& path) const {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

bool Folders::can_write(const std::string& folder) const {
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

bool Folders::is_own(const std::string& folder) const {
  struct stat state {};
  return ::lstat(folder.c_str(), &state) == 0 && state.st_uid == ::geteuid();
}

std::vector<MountStep> layers_of_all(const std::vector<Mount>& mounts, const Folders& folders) {
  std::vector<MountStep> steps;
  for (const Mount& mount : visible(mounts)) {
    if (mount.type == "autofs") continue;  // to touch it is to mount it
    MountStep step = {MountStep::Kind::kKept, mount.point, mount.flags, false};
    if (mount.point == "/" || (holds_files(mount) && (mount.flags & MS_RDONLY) == 0)) {
      step.is_writable = folders.is_folder(mount.point);
      step.kind = step.is_writable ? MountStep::Kind::kLayer : MountStep::Kind::kReadOnly;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

Result<std::vector<MountStep>> layers_of_user(const std::vector<Mount>& mounts,
                                              const Folders& folders,
                                              const std::vector<std::string>& known) {
  const std::vector<Mount> seen = visible(mounts);
  UserPlan plan(seen, folders, known);
  for (const Mount& mount : seen) {
    if (!holds_files(mount) || (mount.flags & MS_RDONLY) != 0) continue;
    if (!folders.is_folder(mount.point)) {
      plan.keep_read_only(mount);
      continue;
    }
    if (const Status covered = plan.cover(mount.point, mount.flags); !covered) {
      return forward_error(covered);
    }
  }
  return plan.take();
}

}  // namespace unstarve::isolation
