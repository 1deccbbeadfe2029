#include "isolation/isolation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/unique_handle.h"
#include "isolation/kept_places.h"
#include "isolation/layered_entry.h"
#include "isolation/own_folder.h"
#include "isolation/read_all.h"
#include "isolation/trackers.h"
#include "isolation/trial_processes.h"
#include "isolation/write_guard.h"

namespace unstarve::isolation {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRoomBytes = 64ULL << 20;  // of a disk, left to the others
constexpr const char* kStore = "/written";
// They ask somebody else to start the job, whose files we cannot reach.
constexpr std::array<std::string_view, 12> kElsewhere = {"docker", "podman", "nerdctl", "kubectl",
                                                         "srun",   "sbatch", "salloc",  "bsub",
                                                         "qsub",   "ssh",    "ray",     "modal"};

std::uint64_t free_bytes(const std::string& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
}

bool is_in_memory(const std::string& folder) {
  struct statfs state {};
  return ::statfs(folder.c_str(), &state) == 0 && state.f_type == TMPFS_MAGIC;
}

/// Without those that later ones hide.
std::vector<Mount> visible_mounts() {
  std::vector<Mount> mounts = parse_mount_table(read_all("/proc/self/mountinfo"));
  const auto is_hidden = [](const Mount& mount) {
    if (mount.type == "autofs") return false;
    struct statx state {};
    if (::statx(AT_FDCWD, mount.point.c_str(), AT_NO_AUTOMOUNT, STATX_MNT_ID, &state) != 0) {
      return true;
    }
    return (state.stx_mask & STATX_MNT_ID) != 0 &&
           state.stx_mnt_id != static_cast<std::uint64_t>(mount.id);
  };
  mounts.erase(std::remove_if(mounts.begin(), mounts.end(), is_hidden), mounts.end());
  return mounts;
}

/// What of a trial's store may not be entered, nor removed, by whom it belongs to: overlayfs makes
/// folders of mode 0, jobs what they like.
void remove_store(const std::string& store) {
  std::error_code none;
  if (!fs::exists(store, none)) return;
  ::chmod(store.c_str(), 0700);
  if (::geteuid() != 0) {
    for (fs::recursive_directory_iterator entry(store, none), end; entry != end;
         entry.increment(none)) {
      const bool is_folder = entry->symlink_status(none).type() == fs::file_type::directory;
      if (is_folder) ::chmod(entry->path().c_str(), 0700);
    }
  }
  fs::remove_all(store, none);
}

/// Beside `own`.
bool holds_something(const std::string& folder, const std::string& own) {
  std::error_code none;
  return std::any_of(fs::directory_iterator(folder, none), fs::directory_iterator(),
                     [&own](const fs::directory_entry& entry) { return entry.path() != own; });
}

/// Whether a child can enter: its failure in words, or nothing.
std::optional<std::string> try_entry(const ChildEntry& enter) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::string(::strerror(errno));
  const FileDescriptor from_child(ends[0]);
  FileDescriptor to_us(ends[1]);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const ChildFailure failure = enter();
    static_cast<void>(!::write(to_us.get(), &failure, sizeof(failure)));
    ::_exit(0);
  }
  if (pid < 0) return std::string(::strerror(errno));
  to_us.reset();
  ChildFailure failure;
  const ssize_t got = ::read(from_child.get(), &failure, sizeof(failure));
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (got != static_cast<ssize_t>(sizeof(failure))) return "the child that tried it died";
  if (failure.os_errno == 0) return std::nullopt;
  return fmt::format("{}: {}", failure.what, ::strerror(failure.os_errno));
}

std::string unused_name() {
  static std::atomic<int> count{0};
  return fmt::format("trial-{}-{}", ::getpid(), ++count);
}

}  // namespace

/// What one trial is to be, as begin() has it.
struct Isolation::Asked {
  std::string run_dir;
  std::vector<std::string> command;
  Environment environment;
  std::vector<FileChange> changes;

  /// As the job will have it; null: it has none.
  const char* variable(const char* name) const {
    for (const auto& [known, value] : environment) {
      if (known == name) return value.c_str();
    }
    return std::getenv(name);
  }
};

struct IsolatedTrial::Impl {
  OwnCommand own;
  Environment environment;
  std::string run_dir;
  std::string store;
  std::string trackers;
  std::uint64_t free_before = 0;
  std::optional<LayeredEntry> layers;
  std::optional<WriteGuard> guard;
  TrialMarks marks;
  bool ended = false;

  ~Impl() { end(); }

  Status watch_writes(std::vector<std::string> kept) {
    for (const char* const folder : {"/dev", "/proc", "/sys", "/run"}) kept.emplace_back(folder);
    auto prepared = WriteGuard::prepare(std::move(kept));
    if (!prepared) return forward_error(prepared);
    guard.emplace(*std::move(prepared));
    return {};
  }

  Status put_layers(Means means, const Isolation::Asked& asked, std::vector<std::string> kept,
                    const std::string& working_folder) {
    LayeredView view;
    const Folders folders;
    view.has_user_namespace = means == Means::kUserLayers;
    if (view.has_user_namespace) {
      const char* const home = asked.variable("HOME");
      auto steps = layers_of_user(visible_mounts(), folders,
                                  {working_folder, run_dir, home == nullptr ? "" : home});
      if (!steps) return forward_error(steps);
      view.steps = *std::move(steps);
    } else {
      view.steps = layers_of_all(visible_mounts(), folders);
    }
    view.kept = std::move(kept);
    view.sockets = open_sockets(read_all("/proc/net/unix"));
    view.store = store;
    view.working_folder = working_folder;
    view.changes = asked.changes;
    auto prepared = LayeredEntry::prepare(std::move(view));
    if (!prepared) return forward_error(prepared);
    layers.emplace(*std::move(prepared));
    return {};
  }

  std::size_t end() {
    if (ended) return 0;
    ended = true;
    const std::size_t left = marks.run_dir.empty() ? 0 : kill_processes_of(marks);
    marks.mount_namespace.reset();  // with which its layers go
    if (guard) guard->end();
    layers.reset();
    if (!store.empty()) remove_store(store);
    std::error_code none;
    if (!trackers.empty()) fs::remove_all(trackers, none);
    for (const std::string& path : own.paths) fs::remove_all(path, none);
    return left;
  }
};

IsolatedTrial::IsolatedTrial(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
IsolatedTrial::IsolatedTrial(IsolatedTrial&&) noexcept = default;
IsolatedTrial& IsolatedTrial::operator=(IsolatedTrial&&) noexcept = default;
IsolatedTrial::~IsolatedTrial() = default;

const std::vector<std::string>& IsolatedTrial::command() const { return impl_->own.command; }
const Environment& IsolatedTrial::environment() const { return impl_->environment; }

ChildEntry IsolatedTrial::entry() const {
  if (impl_->layers) return impl_->layers->entry();
  if (impl_->guard) return impl_->guard->entry();
  return {};
}

Status IsolatedTrial::started(pid_t pid) {
  impl_->marks.run_dir = impl_->run_dir;
  impl_->marks.group = ::getpgid(pid) == ::getpgrp() ? 0 : ::getpgid(pid);
  if (impl_->layers) impl_->marks.mount_namespace = open_mount_namespace(pid);
  return impl_->guard ? impl_->guard->watch() : Status();
}

Status IsolatedTrial::check() const {
  if (impl_->guard) {
    if (const auto refused = impl_->guard->refused(); !refused.empty()) {
      return fail(ErrorCode::kNoPermission,
                  "the job writes over what is there: {}. Nothing of it was changed. Give it a "
                  "folder of each trial's own (--output-dir out/{}), or let trials write there "
                  "knowingly (--in-place)",
                  fmt::join(refused, ", "), kTrialWord);
    }
  }
  if (impl_->store.empty()) return {};
  const std::uint64_t free = free_bytes(impl_->store);
  if (free < std::min(kRoomBytes, impl_->free_before / 4)) {
    return fail(ErrorCode::kIo,
                "what the trial wrote has filled the disk of {}: {} MB are free; make room, or "
                "name another disk by --out",
                impl_->store, free >> 20);
  }
  return {};
}

std::vector<std::string> IsolatedTrial::read_only() const {
  return impl_->layers ? impl_->layers->read_only() : std::vector<std::string>();
}

std::size_t IsolatedTrial::kill() { return kill_processes_of(impl_->marks); }
std::size_t IsolatedTrial::end() { return impl_->end(); }

Isolation::OwnFolder::~OwnFolder() {
  std::error_code none;
  if (!path_.empty()) fs::remove_all(path_, none);
}

Result<Isolation> Isolation::choose(const std::vector<std::string>& command,
                                    const std::string& folder, const IsolationWish& wish) {
  std::error_code failed;
  const std::string trials = fs::absolute(folder, failed).string();
  Isolation isolation(wish, trials + "/caches");
  if (wish.in_place) return isolation;
  const std::string program = command.empty() ? "" : fs::path(command.front()).filename().string();
  if (std::find(kElsewhere.begin(), kElsewhere.end(), program) != kElsewhere.end()) {
    return fail(ErrorCode::kNotSupported,
                "`{0}` starts the job where its files cannot be kept from trials: run unstarve "
                "behind it ({0} ... unstarve tune -- ...), or let trials write where the job "
                "writes (--in-place)",
                program);
  }
  fs::create_directories(trials, failed);
  if (failed) return fail_errno(failed.value(), "cannot make the folder " + trials);
  std::vector<std::string> why;
  for (const Means means : {Means::kLayers, Means::kUserLayers}) {
    if (means == Means::kLayers && ::geteuid() != 0) continue;
    const auto not_this = isolation.try_layers(means, trials);
    if (!not_this) {
      isolation.means_ = means;
      return isolation;
    }
    why.push_back(*not_this);
  }
  const auto no_guard = isolation.try_guard();
  isolation.why_not_ = why.front();
  if (!no_guard) {
    isolation.means_ = Means::kGuard;
    return isolation;
  }
  if (says_trial(command, environ)) return isolation;
  return fail(ErrorCode::kNotSupported,
              "the job's files cannot be kept from trials here ({}; {}). Give it a folder of each "
              "trial's own (--output-dir out/{}), or let trials write where the job writes "
              "(--in-place)",
              isolation.why_not_, *no_guard, kTrialWord);
}

std::string Isolation::why_files_stay() const {
  return fmt::format(
      "only a layer over the file system shows a changed script to one trial alone ({})",
      wish_.in_place ? "trials write in place" : why_not_);
}

std::optional<std::string> Isolation::try_layers(Means means, const std::string& trials) {
  std::optional<std::string> why;
  std::error_code none;
  std::vector<std::string> bases = {""};
  for (const std::string& folder :
       {fs::temp_directory_path(none).string(), std::string("/var/tmp")}) {
    // What a trial writes must not fill the memory.
    if (!none && !is_in_memory(folder)) bases.push_back(folder);
  }
  for (const std::string& base : bases) {
    const std::string run_dir = trials + "/" + unused_name();
    if (!fs::create_directory(run_dir, none)) return "cannot make " + run_dir;
    auto trial = begin_by(means, base, {run_dir, {}, {}, {}});
    const auto failed = trial ? try_entry(trial->entry()) : std::optional(trial.error().message);
    if (trial) trial->end();
    fs::remove_all(run_dir, none);
    if (!failed) {
      store_base_ = base;
      return std::nullopt;
    }
    if (!why) why = failed;
  }
  return why;
}

std::optional<std::string> Isolation::try_guard() const {
  auto guard = WriteGuard::prepare({});
  if (!guard) return guard.error().message;
  return try_entry(guard->entry());
}

Result<IsolatedTrial> Isolation::begin(const std::string& run_dir,
                                       const std::vector<std::string>& command,
                                       const Environment& environment,
                                       const std::vector<FileChange>& changes) const {
  std::error_code none;
  if (!changes.empty() && !can_change_files()) {
    return fail(ErrorCode::kInvalidArgument,
                "{} cannot be changed for one trial alone: no layer may be put over it here",
                changes.front().path);
  }
  if (means_ != Means::kNone && holds_something(run_dir, caches_.path())) {
    return fail(ErrorCode::kInvalidArgument,
                "{} holds something already, and a trial needs a folder of its own: name a new one",
                run_dir);
  }
  fs::create_directories(run_dir, none);
  if (none) return fail_errno(none.value(), "cannot make the folder " + run_dir);
  return begin_by(means_, store_base_, {run_dir, command, environment, changes});
}

Result<IsolatedTrial> Isolation::begin_by(Means means, const std::string& store_base,
                                          const Asked& asked) const {
  std::error_code failed;
  const std::string working_folder = fs::current_path(failed).string();
  if (failed) return fail_errno(failed.value(), "cannot tell which folder this is");
  auto impl = std::make_unique<IsolatedTrial::Impl>();
  impl->own = with_trial_name(asked.command, environ, unused_name(), working_folder);
  impl->environment = impl->own.environment;
  impl->run_dir = asked.run_dir;
  if (!wish_.online) {
    impl->trackers = asked.run_dir + "/trackers";
    fs::create_directories(impl->trackers, failed);
    const Environment off = trackers_off(impl->trackers);
    impl->environment.insert(impl->environment.end(), off.begin(), off.end());
  }
  if (means == Means::kNone) return IsolatedTrial(std::move(impl));
  impl->store =
      store_base.empty() ? asked.run_dir + kStore : store_base + "/unstarve-" + unused_name();
  fs::create_directories(impl->store, failed);
  if (failed) return fail_errno(failed.value(), "cannot make the folder " + impl->store);
  impl->free_before = free_bytes(impl->store);
  const auto variable = [&asked](const char* name) { return asked.variable(name); };
  std::vector<std::string> kept = shared_caches(variable);
  for (const std::string& name : missing_compiler_caches(variable)) {
    impl->environment.emplace_back(name, caches_.path() + "/" + name);
    fs::create_directories(impl->environment.back().second, failed);
    kept.push_back(impl->environment.back().second);
  }
  kept.push_back(asked.run_dir);
  const Status set = means == Means::kGuard
                         ? impl->watch_writes(std::move(kept))
                         : impl->put_layers(means, asked, std::move(kept), working_folder);
  if (!set) return forward_error(set);
  return IsolatedTrial(std::move(impl));
}

}  // namespace unstarve::isolation
