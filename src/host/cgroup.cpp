#include "host/cgroup.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "host/text_scan.h"

namespace unstarve::host {

namespace {

/// Version 1 says "no limit" with the largest number of whole pages; so much memory has nobody.
constexpr std::int64_t kNoMemoryLimitBytes = 1LL << 60;

WhyAbsent why(const Error& error) {
  return error.code == ErrorCode::kNoPermission ? WhyAbsent::kNoPermission
                                                : WhyAbsent::kNotSupported;
}

const std::string* find_folder(const std::map<std::string, std::string>& folders,
                               const std::string& controller) {
  const auto entry = folders.find(controller);
  return entry == folders.end() ? nullptr : &entry->second;
}

/// The folder of a version 1 controller and its mount point.
struct Place {
  std::string folder;
  std::string mount;
};
Place legacy_place(const CgroupFolders& folders, const std::string& controller) {
  const std::string* folder = find_folder(folders.legacy, controller);
  const std::string* mount = find_folder(folders.legacy_mounts, controller);
  if (folder == nullptr || mount == nullptr) return {};
  return {*folder, *mount};
}

/// The least value that `read` finds in a folder or one above it, up to the mount point. The
/// depth is bounded because the paths come from files.
template <class T>
Reading<T> least_upward(Place place, const std::function<Reading<T>(const std::string&)>& read) {
  Reading<T> least = WhyAbsent::kNotObserved;
  if (place.folder.empty()) return WhyAbsent::kNotSupported;
  for (int depth = 0; depth < 64; ++depth) {
    const Reading<T> here = read(place.folder);
    if (here && (!least || *here < *least)) least = here;
    const std::size_t slash = place.folder.rfind('/');
    if (place.folder.size() <= place.mount.size() || slash == std::string::npos) break;
    place.folder.resize(slash);
  }
  return least;
}

Reading<std::int64_t> read_integer(const HostFiles& files, const std::string& path) {
  const Result<std::string> text = files.read(path);
  if (!text) return why(text.error());
  const auto number = parse_number<std::int64_t>(trim(*text));
  if (!number) return WhyAbsent::kNotSupported;
  return *number;
}

template <class Parse>
auto read_with(const HostFiles& files, const std::string& path, Parse parse)
    -> decltype(parse(std::string_view())) {
  const Result<std::string> text = files.read(path);
  if (!text) return why(text.error());
  return parse(std::string_view(*text));
}

Reading<Pressure> read_pressure(const HostFiles& files, const std::string& path) {
  return read_with(files, path, [](std::string_view text) -> Reading<Pressure> {
    const Result<Pressure> pressure = parse_pressure(text);
    if (!pressure) return WhyAbsent::kNotSupported;
    return *pressure;
  });
}

Reading<double> unified_quota(const HostFiles& files, const std::string& folder) {
  return read_with(files, folder + "/cpu.max", [](std::string_view text) -> Reading<double> {
    const Result<Reading<double>> quota = parse_cpu_max(text);
    if (!quota) return WhyAbsent::kNotSupported;
    return *quota;
  });
}

Reading<double> legacy_quota(const HostFiles& files, const std::string& folder) {
  const Reading<std::int64_t> quota_us = read_integer(files, folder + "/cpu.cfs_quota_us");
  const Reading<std::int64_t> period_us = read_integer(files, folder + "/cpu.cfs_period_us");
  if (!quota_us) return quota_us.why_absent();
  if (!period_us || *period_us <= 0) return WhyAbsent::kNotSupported;
  if (*quota_us <= 0) return WhyAbsent::kNotObserved;  // -1: no quota
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

Reading<std::int64_t> memory_limit(const HostFiles& files, const std::string& path) {
  const Reading<std::int64_t> limit = read_integer(files, path);  // `max` is no number: no limit
  if (!limit) return limit;
  if (*limit >= kNoMemoryLimitBytes || *limit < 0) return WhyAbsent::kNotObserved;
  return limit;
}

Reading<std::int64_t> scaled(const Reading<std::int64_t>& value, std::int64_t factor) {
  if (!value) return value;
  if (*value < 0 || *value > std::numeric_limits<std::int64_t>::max() / factor) {
    return WhyAbsent::kNotSupported;
  }
  return *value * factor;
}

Reading<std::int64_t> flat_keyed(const HostFiles& files, const std::string& path,
                                 std::string_view name) {
  return read_with(files, path,
                   [name](std::string_view text) { return parse_flat_keyed(text, name); });
}

void read_unified(const HostFiles& files, const std::string& folder, CgroupReadings& out) {
  out.throttled_ns = scaled(flat_keyed(files, folder + "/cpu.stat", "throttled_usec"), 1000);
  out.throttled_periods = flat_keyed(files, folder + "/cpu.stat", "nr_throttled");
  out.memory_used_bytes = read_integer(files, folder + "/memory.current");
  out.memory_file_bytes = flat_keyed(files, folder + "/memory.stat", "file");
  out.read_bytes = read_with(files, folder + "/io.stat", parse_io_stat);
  out.cpu_pressure = read_pressure(files, folder + "/cpu.pressure");
  out.io_pressure = read_pressure(files, folder + "/io.pressure");
  out.memory_pressure = read_pressure(files, folder + "/memory.pressure");
}

void read_legacy(const HostFiles& files, const CgroupFolders& folders, CgroupReadings& out) {
  if (const std::string* cpu = find_folder(folders.legacy, "cpu")) {
    out.throttled_ns = flat_keyed(files, *cpu + "/cpu.stat", "throttled_time");
    out.throttled_periods = flat_keyed(files, *cpu + "/cpu.stat", "nr_throttled");
  }
  if (const std::string* memory = find_folder(folders.legacy, "memory")) {
    out.memory_used_bytes = read_integer(files, *memory + "/memory.usage_in_bytes");
    out.memory_file_bytes = flat_keyed(files, *memory + "/memory.stat", "total_cache");
  }
  if (const std::string* blkio = find_folder(folders.legacy, "blkio")) {
    out.read_bytes =
        read_with(files, *blkio + "/blkio.throttle.io_service_bytes", parse_blkio_bytes);
  }
}

}  // namespace

Result<Reading<double>> parse_cpu_max(std::string_view text) {
  std::string_view line = trim(text);
  const std::string_view quota = take_word(line);
  const auto period_us = parse_number<std::int64_t>(take_word(line));
  if (!period_us || *period_us <= 0) {
    return fail(ErrorCode::kCorruptData, "cpu.max is not `QUOTA PERIOD`");
  }
  if (quota == "max") return Reading<double>(WhyAbsent::kNotObserved);
  const auto quota_us = parse_number<std::int64_t>(quota);
  if (!quota_us || *quota_us <= 0) {
    return fail(ErrorCode::kCorruptData, "cpu.max is not `QUOTA PERIOD`");
  }
  return Reading<double>(static_cast<double>(*quota_us) / static_cast<double>(*period_us));
}

Reading<std::int64_t> parse_flat_keyed(std::string_view text, std::string_view name) {
  while (auto line = take_line(text)) {
    if (take_word(*line) != name) continue;
    const auto number = parse_number<std::int64_t>(take_word(*line));
    if (!number) return WhyAbsent::kNotSupported;
    return *number;
  }
  return WhyAbsent::kNotSupported;
}

Reading<std::int64_t> parse_io_stat(std::string_view text) {
  // 8:0 rbytes=1459200 wbytes=314773504 rios=192 ...; an idle group has an empty file.
  std::uint64_t sum = 0;
  while (auto line = take_line(text)) {
    while (true) {
      const std::string_view word = take_word(*line);
      if (word.empty()) break;
      if (word.substr(0, 7) != "rbytes=") continue;
      const auto bytes = parse_number<std::uint64_t>(word.substr(7));
      if (!bytes) return WhyAbsent::kNotSupported;
      sum += *bytes;
    }
  }
  if (sum > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return WhyAbsent::kNotSupported;
  }
  return static_cast<std::int64_t>(sum);
}

Reading<std::int64_t> parse_blkio_bytes(std::string_view text) {
  // 8:0 Read 4096, one line per device and operation, a last line `Total N`.
  std::uint64_t sum = 0;
  while (auto line = take_line(text)) {
    take_word(*line);
    if (take_word(*line) != "Read") continue;
    const auto bytes = parse_number<std::uint64_t>(take_word(*line));
    if (!bytes) return WhyAbsent::kNotSupported;
    sum += *bytes;
  }
  if (sum > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return WhyAbsent::kNotSupported;
  }
  return static_cast<std::int64_t>(sum);
}

Reading<double> quota_cores(const HostFiles& files, const CgroupFolders& folders) {
  const Reading<double> unified =
      least_upward<double>({folders.unified, folders.unified_mount},
                           [&files](const std::string& at) { return unified_quota(files, at); });
  const Reading<double> legacy =
      least_upward<double>(legacy_place(folders, "cpu"),
                           [&files](const std::string& at) { return legacy_quota(files, at); });
  if (unified && legacy) return std::min(*unified, *legacy);
  return unified ? unified : legacy;
}

Reading<std::int64_t> cpuset_cpus(const HostFiles& files, const CgroupFolders& folders) {
  const auto count = [](std::string_view text) -> Reading<std::int64_t> {
    const Result<std::int64_t> cpus = count_cpu_list(text);
    if (!cpus || *cpus == 0) return WhyAbsent::kNotSupported;
    return *cpus;
  };
  if (const std::string* cpuset = find_folder(folders.legacy, "cpuset")) {
    const auto legacy = read_with(files, *cpuset + "/cpuset.effective_cpus", count);
    return legacy ? legacy : read_with(files, *cpuset + "/cpuset.cpus", count);
  }
  if (folders.unified.empty()) return WhyAbsent::kNotSupported;
  return read_with(files, folders.unified + "/cpuset.cpus.effective", count);
}

CgroupReadings read_cgroup(const HostFiles& files, const CgroupFolders& folders) {
  CgroupReadings out;
  if (!folders.unified.empty()) read_unified(files, folders.unified, out);
  // A controller belongs to one version at a time: where version 1 has it, version 2 has no file.
  read_legacy(files, folders, out);
  out.quota_cores = quota_cores(files, folders);
  const auto legacy_limit =
      least_upward<std::int64_t>(legacy_place(folders, "memory"), [&files](const std::string& at) {
        return memory_limit(files, at + "/memory.limit_in_bytes");
      });
  const auto unified_limit = least_upward<std::int64_t>(
      {folders.unified, folders.unified_mount},
      [&files](const std::string& at) { return memory_limit(files, at + "/memory.max"); });
  out.memory_limit_bytes = legacy_limit ? legacy_limit : unified_limit;
  return out;
}

}  // namespace unstarve::host
