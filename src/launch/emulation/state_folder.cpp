#include "launch/emulation/state_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "host/host_files.h"
#include "host/procfs.h"

namespace unstarve::launch {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "unstarve-emulated-";
constexpr const char* kOwner = "owner";  // locked by us; holds the job's pid

bool has_ended(const fs::path& owner_file) {
  pid_t job = 0;
  std::ifstream(owner_file) >> job;
  if (job <= 0 || (::kill(job, 0) != 0 && errno == ESRCH)) return true;
  // One that nobody has waited for keeps its number, for as long as its parent likes.
  const auto text = host::HostFiles().read(fmt::format("/proc/{}/stat", job));
  if (!text) return false;
  const auto stat = host::parse_process_stat(*text);
  return stat && (stat->state == 'Z' || stat->state == 'X');
}

/// Whether nobody lives any more who uses the folder, as far as its owner wrote down.
bool is_abandoned(const fs::path& folder) {
  struct stat state {};
  if (::lstat(folder.c_str(), &state) != 0 || !S_ISDIR(state.st_mode)) return false;
  if (state.st_uid != ::geteuid()) return false;
  const fs::path owner_file = folder / kOwner;
  const FileDescriptor owner(::open(owner_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  // One that is being made has no such file yet, or for an instant no lock on it.
  if (!owner || ::fstat(owner.get(), &state) != 0 || state.st_size == 0) return false;
  return ::flock(owner.get(), LOCK_EX | LOCK_NB) == 0 && has_ended(owner_file);
}

void remove_abandoned(const fs::path& place) {
  std::error_code ignored;
  for (fs::directory_iterator entry(place, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (entry->path().filename().string().rfind(kPrefix, 0) != 0) continue;
    std::error_code in_use;
    if (is_abandoned(entry->path())) fs::remove_all(entry->path(), in_use);
  }
}

}  // namespace

Result<StateFolder> StateFolder::create() {
  std::error_code none;
  const fs::path temporary = fs::temp_directory_path(none);
  return create_in({"/dev/shm", none ? "/tmp" : temporary.string()});
}

Result<StateFolder> StateFolder::create_in(const std::vector<std::string>& places) {
  int failed = ENOENT;
  for (const std::string& place : places) {
    remove_abandoned(place);
    std::string path = place + "/" + std::string(kPrefix) + "XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      failed = errno;
      continue;
    }
    const std::string owner = path + "/" + kOwner;
    StateFolder made(path,
                     FileDescriptor(::open(owner.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
    const bool locked = made.lock_ && ::flock(made.lock_.get(), LOCK_EX | LOCK_NB) == 0;
    if (locked && made.belongs_to(::getpid())) return made;
    failed = errno;
  }
  return fail_errno(failed,
                    fmt::format("cannot make a folder for the emulation in {}; name another place "
                                "by TMPDIR",
                                fmt::join(places, " nor in ")));
}

StateFolder::StateFolder(std::string path, FileDescriptor lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

StateFolder::StateFolder(StateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

StateFolder::~StateFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Status StateFolder::belongs_to(pid_t job) {
  const std::string text = fmt::format("{:<10}\n", job);  // as long as any, so that none is left
  const ssize_t written = ::pwrite(lock_.get(), text.data(), text.size(), 0);
  if (written == static_cast<ssize_t>(text.size())) return {};
  return fail_errno(written < 0 ? errno : ENOSPC, "cannot write into " + path_);
}

}  // namespace unstarve::launch
