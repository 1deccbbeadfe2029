#include "host/cpu_energy.h"

#include <fmt/format.h>

#include "host/text_scan.h"

namespace unstarve::host {

namespace {

// Zones are numbered without holes: the first that is missing ends the list. More processors than
// this no machine has.
constexpr int kMostZones = 64;

Result<std::uint64_t> read_number(const HostFiles& files, const std::string& path) {
  const Result<std::string> text = files.read(path);
  if (!text) return forward_error(text);
  return parse_microjoules(*text);
}

}  // namespace

Result<std::uint64_t> parse_microjoules(std::string_view text) {
  const auto number = parse_number<std::uint64_t>(trim(text));
  if (!number) return fail(ErrorCode::kCorruptData, "a counter of energy is not one number");
  return *number;
}

Result<std::vector<CpuPackage>> find_cpu_packages(const HostFiles& files) {
  std::vector<CpuPackage> packages;
  for (int zone = 0; zone < kMostZones; ++zone) {
    const std::string folder = fmt::format("/sys/class/powercap/intel-rapl:{}", zone);
    const Result<std::string> name = files.read(folder + "/name");
    if (!name && name.error().code != ErrorCode::kNotFound) return forward_error(name);
    if (!name) break;
    if (!name->starts_with("package")) continue;
    const Result<std::uint64_t> range = read_number(files, folder + "/max_energy_range_uj");
    if (!range) return forward_error(range);
    packages.push_back({folder + "/energy_uj", *range});
  }
  if (packages.empty()) {
    return fail(ErrorCode::kNotFound,
                "no processor shows its energy below /sys/class/powercap: the machine has no RAPL, "
                "or a container hides it");
  }
  return packages;
}

Result<std::uint64_t> read_energy_uj(const HostFiles& files, const CpuPackage& package) {
  return read_number(files, package.counter);
}

std::uint64_t energy_since_uj(const CpuPackage& package, std::uint64_t before, std::uint64_t now) {
  if (now >= before) return now - before;
  // The range is the largest value, not the number of values.
  return before > package.range_uj ? now : package.range_uj - before + 1 + now;
}

}  // namespace unstarve::host
