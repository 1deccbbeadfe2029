#include "isolation/layered_entry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace unstarve::isolation {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kPermissions = 07777;
constexpr mode_t kMayWrite = 0222;

/// One step with all that the child needs, which may not allocate.
struct Prepared {
  MountStep step;
  std::string target;   // below the new root
  std::string changes;  // a layer's own folders
  std::string work;
  bool is_needed = false;  // without it there is no trial
  bool may_go = false;     // others may take it away while the child enters
  int source = -1;         // in the child
  int changes_fd = -1;
  int work_fd = -1;
  std::optional<std::uint64_t> mounted;  // the layer, as statx(2) names it
};

ChildFailure entry_failure(const char* action, const std::string& object) {
  ChildFailure failed;
  failed.os_errno = errno;
  std::snprintf(failed.what, sizeof(failed.what), "cannot %s %s", action, object.c_str());
  return failed;
}

bool write_text(const char* path, const std::string& text, int more_flags = 0) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC | more_flags);
  if (file < 0) return false;
  const bool all = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  ::close(file);
  errno = why;
  return all;
}

/// The mount in which a file lies; none where the kernel does not say.
std::optional<std::uint64_t> mount_of(int folder, const char* path, int flags) {
  struct statx state {};
  if (::statx(folder, path, flags, STATX_MNT_ID, &state) != 0) return std::nullopt;
  if ((state.stx_mask & STATX_MNT_ID) == 0) return std::nullopt;
  return state.stx_mnt_id;
}

}  // namespace

struct LayeredEntry::Impl {
  LayeredView view;
  std::string new_root;  // empty: in place
  std::string user_map;
  std::string group_map;
  std::vector<Prepared> steps;
  bool* is_read_only = nullptr;  // of each step; shared with the child

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (is_read_only != nullptr) ::munmap(is_read_only, steps.size());
  }

  // From here on in the child.

  ChildFailure enter() {
    if (::unshare(CLONE_NEWNS | (view.has_user_namespace ? CLONE_NEWUSER : 0)) != 0) {
      return entry_failure("make a mount namespace for", view.working_folder);
    }
    if (view.has_user_namespace && (!write_text("/proc/self/setgroups", "deny") ||
                                    !write_text("/proc/self/uid_map", user_map) ||
                                    !write_text("/proc/self/gid_map", group_map))) {
      return entry_failure("be the same user in the namespace for", view.working_folder);
    }
    // Nothing that is mounted in here reaches the others.
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
      return entry_failure("part with the mounts of the others at", "/");
    }
    for (Prepared& prepared : steps) open_sources(prepared);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].source < 0) continue;  // nothing that this user sees
      if (ChildFailure failed = mount_step(steps[i], is_read_only[i]); failed.os_errno != 0) {
        return failed;
      }
    }
    if (ChildFailure failed = change_root(); failed.os_errno != 0) return failed;
    for (const FileChange& change : view.changes) {
      if (!write_change(change)) return entry_failure("change for this trial", change.path);
    }
    return {};
  }

  /// What lies in no layer is everybody's, and is not touched.
  bool write_change(const FileChange& change) {
    const int file = ::open(change.path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0) return false;
    const auto lies_in = mount_of(file, "", AT_EMPTY_PATH);
    const bool in_layer =
        lies_in && std::any_of(steps.begin(), steps.end(), [&lies_in](const Prepared& prepared) {
          return prepared.mounted == lies_in;
        });
    char same[32];
    std::snprintf(same, sizeof(same), "/proc/self/fd/%d", file);
    if (!in_layer) errno = EXDEV;
    const bool written = in_layer && write_text(same, change.text, O_TRUNC);
    const int why = errno;
    ::close(file);
    errno = why;
    return written;
  }

  void open_sources(Prepared& prepared) {
    prepared.source = ::open(prepared.step.path.c_str(), O_PATH | O_CLOEXEC);
    if (prepared.step.kind != MountStep::Kind::kLayer) return;
    prepared.changes_fd = ::open(prepared.changes.c_str(), O_PATH | O_CLOEXEC);
    prepared.work_fd = ::open(prepared.work.c_str(), O_PATH | O_CLOEXEC);
  }

  ChildFailure mount_step(Prepared& prepared, bool& is_read_only_now) {
    if (prepared.step.kind == MountStep::Kind::kLayer) {
      if (mount_layer(prepared)) {
        prepared.mounted = mount_of(AT_FDCWD, prepared.target.c_str(), 0);
        return {};
      }
      if (prepared.is_needed) return entry_failure("put a layer over", prepared.step.path);
    }
    char source[32];
    std::snprintf(source, sizeof(source), "/proc/self/fd/%d", prepared.source);
    // In a user namespace no mount may be taken without those below it.
    unsigned long flags = MS_BIND;
    if (view.has_user_namespace) flags |= MS_REC;
    if (::mount(source, prepared.target.c_str(), nullptr, flags, nullptr) != 0) {
      if (prepared.may_go && (errno == ENOENT || errno == ENOTDIR || errno == ESTALE)) return {};
      return entry_failure("keep", prepared.step.path);
    }
    if (prepared.step.kind == MountStep::Kind::kKept) return {};
    is_read_only_now = true;
    flags = MS_REMOUNT | MS_BIND | MS_RDONLY | prepared.step.flags;
    if (::mount(nullptr, prepared.target.c_str(), nullptr, flags, nullptr) != 0) {
      return entry_failure("make read-only", prepared.step.path);
    }
    return {};
  }

  /// A rename of a folder that was there before goes through where the kernel lets it.
  bool mount_layer(const Prepared& prepared) {
    char options[160];
    std::snprintf(options, sizeof(options),
                  "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,%s",
                  prepared.source, prepared.changes_fd, prepared.work_fd,
                  view.has_user_namespace ? "userxattr" : "redirect_dir=on");
    return ::mount("unstarve", prepared.target.c_str(), "overlay", prepared.step.flags, options) ==
           0;
  }

  ChildFailure change_root() {
    if (!new_root.empty()) {
      // The one root on the other, and that taken away from beneath (pivot_root(2)).
      if (::chdir(new_root.c_str()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
          ::umount2(".", MNT_DETACH) != 0) {
        return entry_failure("change the root to", new_root);
      }
    }
    if (::chdir(view.working_folder.c_str()) != 0)
      return entry_failure("enter", view.working_folder);
    return {};
  }
};

LayeredEntry::LayeredEntry(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LayeredEntry::LayeredEntry(LayeredEntry&&) noexcept = default;
LayeredEntry& LayeredEntry::operator=(LayeredEntry&&) noexcept = default;
LayeredEntry::~LayeredEntry() = default;

namespace {

Status make_folder(const std::string& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) return fail_errno(failed.value(), "cannot make " + path);
  return {};
}

/// A layer's root is what its own folder is: like the one below it.
Status make_like(const std::string& changes, const MountStep& step) {
  struct stat below {};
  if (::stat(step.path.c_str(), &below) != 0) return {};
  if (::geteuid() == 0) static_cast<void>(!::chown(changes.c_str(), below.st_uid, below.st_gid));
  mode_t mode = below.st_mode & kPermissions;
  if (!step.is_writable) mode &= ~kMayWrite;  // it is this user's in there
  if (::chmod(changes.c_str(), mode) != 0) return fail_errno(errno, "cannot set up " + changes);
  return {};
}

/// The one that `path` lies in: the longest.
const MountStep* step_of(const std::vector<MountStep>& steps, const std::string& path) {
  const MountStep* found = nullptr;
  for (const MountStep& step : steps) {
    if (!lies_in(path, step.path)) continue;
    if (found == nullptr || found->path.size() <= step.path.size()) found = &step;
  }
  return found;
}

}  // namespace

Result<LayeredEntry> LayeredEntry::prepare(LayeredView view) {
  auto impl = std::make_unique<Impl>();
  if (!view.has_user_namespace) {
    impl->new_root = view.store + "/root";
    if (const Status made = make_folder(impl->new_root); !made) return forward_error(made);
  }
  impl->user_map = fmt::format("{0} {0} 1", ::geteuid());
  impl->group_map = fmt::format("{0} {0} 1", ::getegid());
  const MountStep* const needed = step_of(view.steps, view.working_folder);
  for (const MountStep& step : view.steps) {
    Prepared prepared;
    prepared.step = step;
    prepared.target = step.path == "/" ? impl->new_root : impl->new_root + step.path;
    prepared.is_needed = &step == needed || step.path == "/";
    prepared.may_go = !prepared.is_needed;
    if (step.kind == MountStep::Kind::kLayer) {
      const std::string own = fmt::format("{}/{}", view.store, impl->steps.size());
      prepared.changes = own + "/changes";
      prepared.work = own + "/work";
      for (const std::string& folder : {prepared.changes, prepared.work}) {
        if (const Status made = make_folder(folder); !made) return forward_error(made);
      }
      if (const Status made = make_like(prepared.changes, step); !made) return forward_error(made);
    }
    impl->steps.push_back(std::move(prepared));
  }
  const auto keep = [&impl](const std::string& path, bool may_go) {
    Prepared prepared;
    prepared.step.path = path;
    prepared.target = impl->new_root + path;
    prepared.may_go = may_go;
    impl->steps.push_back(std::move(prepared));
  };
  for (const std::string& path : view.kept) keep(path, false);
  for (const std::string& path : view.sockets) keep(path, true);
  void* const shared = ::mmap(nullptr, impl->steps.size(), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return fail_errno(errno, "no memory for a trial's mounts");
  impl->is_read_only = static_cast<bool*>(shared);
  impl->view = std::move(view);
  return LayeredEntry(std::move(impl));
}

ChildEntry LayeredEntry::entry() const {
  return [impl = impl_.get()] { return impl->enter(); };
}

std::vector<std::string> LayeredEntry::read_only() const {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < impl_->steps.size(); ++i) {
    if (impl_->is_read_only[i]) paths.push_back(impl_->steps[i].step.path);
  }
  return paths;
}

}  // namespace unstarve::isolation
