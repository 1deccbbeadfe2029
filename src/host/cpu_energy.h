#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host_files.h"

namespace unstarve::host {

/// A processor's counter of energy: RAPL of Intel and AMD, which Linux shows below
/// /sys/class/powercap. Since Linux 5.10 only root may read it, unless a system says otherwise.
struct CpuPackage {
  std::string counter;         // the file's path, without the root
  std::uint64_t range_uj = 0;  // the counter begins at 0 again after this many microjoules
};

/// One for each processor. What lies inside one (cores, memory) and what holds them all (`psys`)
/// is left out, so that nothing counts twice. Errors: kNotFound where this machine shows none.
Result<std::vector<CpuPackage>> find_cpu_packages(const HostFiles& files);

/// Microjoules, up to the package's range. Errors: kNoPermission where it may not be read.
Result<std::uint64_t> read_energy_uj(const HostFiles& files, const CpuPackage& package);

/// How far a counter went from `before` to `now`, which may have begun anew once.
std::uint64_t energy_since_uj(const CpuPackage& package, std::uint64_t before, std::uint64_t now);

/// A file of powercap that holds one number.
Result<std::uint64_t> parse_microjoules(std::string_view text);

}  // namespace unstarve::host
