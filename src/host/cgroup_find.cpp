#include <cstddef>
#include <vector>

#include "host/cgroup.h"
#include "host/text_scan.h"

namespace unstarve::host {

namespace {

/// A host of containers mounts thousands of file systems, each in a line of up to 4 KiB.
constexpr std::size_t kMountsBytesMax = 64U << 20;

/// One line of /proc/PID/cgroup: `4:memory:/jobs/7`, or `0::/jobs/7` for version 2.
struct Membership {
  std::string controllers;
  std::string path;
};

std::vector<Membership> parse_memberships(std::string_view text) {
  std::vector<Membership> memberships;
  while (const auto line = take_line(text)) {
    const std::size_t first = line->find(':');
    const std::size_t second = first == std::string_view::npos ? first : line->find(':', first + 1);
    if (second == std::string_view::npos) continue;
    memberships.push_back({std::string(line->substr(first + 1, second - first - 1)),
                           std::string(line->substr(second + 1))});
  }
  return memberships;
}

/// The folder of a group as this process sees it. A container sees its own group as the root of
/// what is mounted, while the membership may name the path on the host: then the mount point is it.
std::string folder_of(const HostFiles& files, const CgroupMount& mount, const std::string& path) {
  std::string below = path;
  if (mount.root.size() > 1 && path.compare(0, mount.root.size(), mount.root) == 0) {
    below = path.substr(mount.root.size());
  }
  if (below == "/" || below.find("..") != std::string::npos) below.clear();
  const std::string folder = mount.point + below;
  return files.exists(folder) ? folder : mount.point;
}

/// Calls `each` with every name of a comma-separated list.
template <class Each>
void for_each_name(std::string_view names, Each each) {
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    each(std::string(names.substr(0, comma)));
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  }
}

}  // namespace

std::optional<CgroupMount> parse_cgroup_mount(std::string_view line) {
  // 36 35 98:0 /root /point rw,noatime master:1 - cgroup2 source rw,options
  std::string_view rest = line;
  for (int skipped = 0; skipped < 3; ++skipped) take_word(rest);
  CgroupMount mount;
  mount.root = unescape_mount_path(take_word(rest));
  mount.point = unescape_mount_path(take_word(rest));
  const std::size_t dash = rest.find(" - ");
  if (dash == std::string_view::npos || mount.point.empty()) return std::nullopt;
  rest.remove_prefix(dash + 3);
  const std::string_view type = take_word(rest);
  take_word(rest);
  if (type == "cgroup2") {
    mount.unified = true;
  } else if (type == "cgroup") {
    mount.controllers = std::string(take_word(rest));
  } else {
    return std::nullopt;
  }
  return mount;
}

Result<CgroupFolders> find_cgroup(const HostFiles& files, std::int64_t pid) {
  const std::string process = pid == 0 ? "/proc/self" : "/proc/" + std::to_string(pid);
  const Result<std::string> groups = files.read(process + "/cgroup");
  if (!groups) return forward_error(groups);
  const Result<std::string> mounts = files.read("/proc/self/mountinfo", kMountsBytesMax);
  if (!mounts) return forward_error(mounts);
  const std::vector<Membership> memberships = parse_memberships(*groups);

  CgroupFolders folders;
  std::string_view rest = *mounts;
  while (const auto line = take_line(rest)) {
    const std::optional<CgroupMount> mount = parse_cgroup_mount(*line);
    if (!mount) continue;
    for (const Membership& membership : memberships) {
      if (mount->unified && membership.controllers.empty() && folders.unified.empty()) {
        folders.unified = folder_of(files, *mount, membership.path);
        folders.unified_mount = mount->point;
      }
      if (mount->unified || membership.controllers.empty()) continue;
      // The mount's options hold its controllers among others (`rw,cpu,cpuacct`).
      const std::string options = "," + mount->controllers + ",";
      for_each_name(membership.controllers, [&](const std::string& controller) {
        if (options.find("," + controller + ",") == std::string::npos) return;
        folders.legacy.try_emplace(controller, folder_of(files, *mount, membership.path));
        folders.legacy_mounts.try_emplace(controller, mount->point);
      });
    }
  }
  return folders;
}

}  // namespace unstarve::host
