#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::isolation {

/// One line of /proc/PID/mountinfo (proc_pid_mountinfo(5)).
struct Mount {
  std::int64_t id = 0;
  std::string point;        // as the process sees it
  std::string type;         // "ext4", "overlay"
  unsigned long flags = 0;  // MS_NOSUID, MS_NODEV, MS_NOEXEC and MS_RDONLY, as mount(2) takes them
};

/// Lines that break the format are left out.
std::vector<Mount> parse_mount_table(std::string_view text);

/// Whether files of people lie in a file system of this type: not what the kernel shows of itself,
/// and not what is made of devices.
bool holds_files(const Mount& mount);

/// Whether `path` is `folder` or lies below it; both absolute and without a slash at the end.
bool lies_in(std::string_view path, std::string_view folder);

}  // namespace unstarve::isolation
