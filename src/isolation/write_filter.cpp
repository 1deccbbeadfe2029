#include "isolation/write_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace unstarve::isolation {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_TRUNC | O_CREAT;

sock_filter load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
}

sock_filter answer(std::uint32_t value) { return {BPF_RET | BPF_K, 0, 0, value}; }

/// Low half of an argument; both architectures are little-endian.
std::size_t argument(int index) {
  return offsetof(seccomp_data, args) + static_cast<std::size_t>(index) * sizeof(std::uint64_t);
}

/// If the call is `number`, it is handed over where its argument has a writing flag.
void by_flags(std::vector<sock_filter>& program, long number, int flags_argument) {
  const auto call = static_cast<std::uint32_t>(number);
  program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 4, call});
  program.push_back(load(argument(flags_argument)));
  program.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, kWriting});
  program.push_back(answer(SECCOMP_RET_USER_NOTIF));
  program.push_back(answer(SECCOMP_RET_ALLOW));
}

void always(std::vector<sock_filter>& program, long number) {
  program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(number)});
  program.push_back(answer(SECCOMP_RET_USER_NOTIF));
}

}  // namespace

std::vector<sock_filter> write_filter() {
  std::vector<sock_filter> program;
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture});
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(load(offsetof(seccomp_data, nr)));
  by_flags(program, SYS_openat, 2);
#if defined(__x86_64__)
  by_flags(program, SYS_open, 1);
  for (const long number :
       {SYS_creat, SYS_unlink, SYS_rmdir, SYS_rename, SYS_mkdir, SYS_link, SYS_symlink, SYS_chmod,
        SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_mknod}) {
    always(program, number);
  }
#endif
  for (const long number :
       {SYS_openat2, SYS_unlinkat, SYS_renameat2, SYS_mkdirat, SYS_linkat, SYS_symlinkat,
        SYS_truncate, SYS_fchmodat, SYS_fchownat, SYS_utimensat, SYS_mknodat}) {
    always(program, number);
  }
#ifdef SYS_renameat
  always(program, SYS_renameat);
#endif
  program.push_back(answer(SECCOMP_RET_ALLOW));
  return program;
}

}  // namespace unstarve::isolation
