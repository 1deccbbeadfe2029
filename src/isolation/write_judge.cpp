#include "isolation/write_judge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace unstarve::isolation {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPageBytes = 4096;

bool read_memory(pid_t thread, std::uint64_t address, void* into, std::size_t bytes) {
  const iovec here{into, bytes};
  // An address in another process. NOLINTNEXTLINE(performance-no-int-to-ptr)
  const iovec there{reinterpret_cast<void*>(address), bytes};
  return ::process_vm_readv(thread, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

/// Text up to its zero byte, page by page: what follows may not be there.
std::optional<std::string> read_text(pid_t thread, std::uint64_t address) {
  std::string text;
  std::array<char, kPageBytes> page;
  while (text.size() < PATH_MAX) {
    const std::size_t bytes = kPageBytes - address % kPageBytes;
    if (!read_memory(thread, address, page.data(), bytes)) return std::nullopt;
    const auto end = std::find(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(bytes), 0);
    text.append(page.begin(), end);
    if (end != page.begin() + static_cast<std::ptrdiff_t>(bytes)) return text;
    address += bytes;
  }
  return std::nullopt;
}

std::optional<std::string> link_target(const std::string& path) {
  std::error_code failed;
  const fs::path target = fs::read_symlink(path, failed);
  return failed ? std::nullopt : std::optional(target.string());
}

/// The path that a thread means, without links, but for the last name where that is not followed.
std::optional<std::string> path_of(pid_t thread, std::int64_t folder, std::uint64_t address,
                                   bool follows) {
  const auto text = read_text(thread, address);
  if (!text) return std::nullopt;
  fs::path path = *text;
  if (!path.is_absolute()) {
    const auto base =
        folder == AT_FDCWD
            ? link_target(fmt::format("/proc/{}/cwd", thread))
            : link_target(fmt::format("/proc/{}/fd/{}", thread, static_cast<int>(folder)));
    if (!base) return std::nullopt;
    path = text->empty() ? fs::path(*base) : fs::path(*base) / path;
  }
  // "/proc/self" is theirs.
  path = path.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::error_code failed;
  if (follows) {
    const fs::path real = fs::weakly_canonical(path, failed);
    return failed ? path.string() : real.string();
  }
  const fs::path parent = fs::weakly_canonical(path.parent_path(), failed);
  return failed ? path.string() : (parent / path.filename()).string();
}

std::int64_t descriptor(std::uint64_t argument) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(argument));
}

std::optional<struct stat> state_of(const std::string& path) {
  struct stat state {};
  if (::lstat(path.c_str(), &state) != 0) return std::nullopt;
  return state;
}

/// Python renews them by itself, and takes it that it cannot.
bool is_compiled_python(const std::string& path) {
  return path.find("/__pycache__/") != std::string::npos;
}

WriteJudgement refuse(const std::string& path) {
  return {EROFS, is_compiled_python(path) ? "" : path};
}

const char* const kUnreadable = "a file whose path could not be read";

}  // namespace

WriteJudgement WriteJudge::judge(const WriteCall& call) {
  const auto& arguments = call.arguments;
  const auto path = [&](std::size_t index, bool follows) {
    return path_of(call.thread, AT_FDCWD, arguments[index], follows);
  };
  const auto path_at = [&](std::size_t index, bool follows) {
    return path_of(call.thread, descriptor(arguments[index]), arguments[index + 1], follows);
  };
  switch (call.number) {
    case SYS_openat: return judge_open(path_at(0, (arguments[2] & O_NOFOLLOW) == 0), arguments[2]);
    case SYS_openat2: {
      std::uint64_t flags = 0;  // the first of struct open_how
      if (!read_memory(call.thread, arguments[2], &flags, sizeof(flags))) return {};
      return judge_open(path_at(0, (flags & O_NOFOLLOW) == 0), flags);
    }
    case SYS_unlinkat: return judge_change(path_at(0, false));
    case SYS_renameat2: return judge_rename(path_at(0, false), path_at(2, false));
    case SYS_mkdirat:
    case SYS_mknodat: return judge_new(path_at(0, false));
    case SYS_symlinkat: return judge_new(path_at(1, false));
    case SYS_linkat: return judge_link(path_at(0, false), path_at(2, false));
    case SYS_truncate: return judge_change(path(0, true));
    case SYS_fchmodat: return judge_change(path_at(0, true));
    case SYS_fchownat: return judge_change(path_at(0, (arguments[4] & AT_SYMLINK_NOFOLLOW) == 0));
    case SYS_utimensat:
      if (arguments[1] == 0) return {};  // of a file that it has open
      return judge_change(path_at(0, (arguments[3] & AT_SYMLINK_NOFOLLOW) == 0));
#ifdef SYS_renameat
    case SYS_renameat: return judge_rename(path_at(0, false), path_at(2, false));
#endif
#if defined(__x86_64__)
    case SYS_open: return judge_open(path(0, (arguments[1] & O_NOFOLLOW) == 0), arguments[1]);
    case SYS_creat: return judge_open(path(0, true), O_CREAT | O_WRONLY | O_TRUNC);
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_lchown: return judge_change(path(0, false));
    case SYS_rename: return judge_rename(path(0, false), path(1, false));
    case SYS_mkdir:
    case SYS_mknod: return judge_new(path(0, false));
    case SYS_symlink: return judge_new(path(1, false));
    case SYS_link: return judge_link(path(0, false), path(1, false));
    case SYS_chmod:
    case SYS_chown:
    case SYS_utime:
    case SYS_utimes: return judge_change(path(0, true));
    case SYS_futimesat:
      return arguments[1] == 0 ? WriteJudgement{} : judge_change(path_at(0, true));
#endif
    default: return {};
  }
}

WriteJudgement WriteJudge::judge_open(const Path& path, std::uint64_t flags) {
  if (!path) return refuse(kUnreadable);
  if (made_.is_free(*path)) return {};
  const auto there = state_of(*path);
  if (!there) {
    if ((flags & O_CREAT) != 0) make(*path);
    return {};
  }
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  if (!writes || !S_ISREG(there->st_mode) || made_.is_made(*path)) return {};
  return refuse(*path);
}

WriteJudgement WriteJudge::judge_change(const Path& path) {
  if (!path) return refuse(kUnreadable);
  if (made_.is_free(*path) || made_.is_made(*path) || !state_of(*path)) return {};
  return refuse(*path);
}

WriteJudgement WriteJudge::judge_new(const Path& path) {
  if (!path) return refuse(kUnreadable);
  if (!state_of(*path)) make(*path);
  return {};
}

WriteJudgement WriteJudge::judge_rename(const Path& from, const Path& to) {
  for (const Path& path : {from, to}) {
    if (const WriteJudgement judgement = judge_change(path); judgement.os_errno != 0) {
      return judgement;
    }
  }
  if (!state_of(*from)) return {};
  note_folder_of(*to);
  made_.rename(*from, *to);
  return {};
}

/// By another name what was there before could be written to: as on another disk, a copy is made.
WriteJudgement WriteJudge::judge_link(const Path& from, const Path& to) {
  if (!from || !to) return refuse(kUnreadable);
  if (!made_.is_free(*from) && !made_.is_made(*from) && state_of(*from)) return {EXDEV, ""};
  return judge_new(to);
}

void WriteJudge::make(const std::string& path) {
  if (made_.is_free(path)) return;
  note_folder_of(path);
  made_.make(path);
}

void WriteJudge::note_folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  if (made_.is_free(folder) || made_.is_made(folder) || folders_.count(folder) != 0) return;
  if (const auto state = state_of(folder)) folders_.emplace(folder, *state);
}

void WriteJudge::take_away() {
  std::error_code none;
  for (auto path = made_.all().rbegin(); path != made_.all().rend(); ++path) {
    fs::remove_all(*path, none);
  }
  for (const auto& [folder, before] : folders_) {
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ::utimensat(AT_FDCWD, folder.c_str(), times, 0);
  }
}

}  // namespace unstarve::isolation
