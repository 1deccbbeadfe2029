#include "isolation/mount_table.h"

#include <sys/mount.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "host/text_scan.h"

namespace unstarve::isolation {

namespace {

// Of the kernel's own and of devices; /run has the sockets of what runs.
constexpr std::array<std::string_view, 24> kTypesOfTheSystem = {
    "autofs",     "binfmt_misc", "bpf",      "cgroup",   "cgroup2", "configfs",
    "debugfs",    "devpts",      "devtmpfs", "efivarfs", "fusectl", "hugetlbfs",
    "mqueue",     "nsfs",        "proc",     "pstore",   "ramfs",   "rpc_pipefs",
    "securityfs", "selinuxfs",   "sysfs",    "tracefs",  "nfsd",    "fuse.lxcfs"};

std::string_view take_field(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return field;
}

unsigned long flags_of(std::string_view options) {
  unsigned long flags = 0;
  while (!options.empty()) {
    const std::size_t comma = std::min(options.find(','), options.size());
    const std::string_view option = options.substr(0, comma);
    if (option == "ro") flags |= MS_RDONLY;
    if (option == "nosuid") flags |= MS_NOSUID;
    if (option == "nodev") flags |= MS_NODEV;
    if (option == "noexec") flags |= MS_NOEXEC;
    options.remove_prefix(std::min(comma + 1, options.size()));
  }
  return flags;
}

std::optional<Mount> parse_line(std::string_view line) {
  // 36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue
  const std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view before = line.substr(0, dash);
  std::string_view behind = line.substr(dash + 3);
  Mount mount;
  const std::string_view id = take_field(before);
  const auto read = std::from_chars(id.data(), id.data() + id.size(), mount.id);
  if (read.ec != std::errc() || read.ptr != id.data() + id.size()) return std::nullopt;
  for (int skipped = 0; skipped < 3; ++skipped) take_field(before);
  mount.point = host::unescape_mount_path(take_field(before));
  mount.flags = flags_of(take_field(before));
  mount.type = std::string(take_field(behind));
  // The file system as a whole may be read-only where the mount is not.
  take_field(behind);
  mount.flags |= flags_of(take_field(behind)) & MS_RDONLY;
  if (mount.point.empty() || mount.point.front() != '/') return std::nullopt;
  return mount;
}

}  // namespace

std::vector<Mount> parse_mount_table(std::string_view text) {
  std::vector<Mount> mounts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto mount = parse_line(text.substr(0, end))) mounts.push_back(*std::move(mount));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return mounts;
}

bool holds_files(const Mount& mount) {
  if (std::find(kTypesOfTheSystem.begin(), kTypesOfTheSystem.end(), mount.type) !=
      kTypesOfTheSystem.end()) {
    return false;
  }
  for (const std::string_view folder : {"/dev", "/proc", "/sys", "/run", "/var/run"}) {
    if (lies_in(mount.point, folder)) return false;
  }
  return true;
}

bool lies_in(std::string_view path, std::string_view folder) {
  if (folder == "/") return !path.empty() && path.front() == '/';
  if (path.substr(0, folder.size()) != folder) return false;
  return path.size() == folder.size() || path[folder.size()] == '/';
}

}  // namespace unstarve::isolation
