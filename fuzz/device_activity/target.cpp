#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/unique_handle.h"
#include "emulated/board/device_watch.h"

#include <fcntl.h>
#include <unistd.h>

namespace {

/// A folder of this process's own, for one ring at a time.
const std::string& folder() {
  static const std::string made = [] {
    std::string name = (std::filesystem::temp_directory_path() / "unstarve-fuzz-XXXXXX").string();
    return std::string(::mkdtemp(name.data()) == nullptr ? "" : name);
  }();
  return made;
}

}  // namespace

/// The emulated GPU's NVML library reads rings that other processes write, in whatever program
/// loaded it: no bytes may crash or stall it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kNowNs = 5'000'000'000;
  static const auto profile = unstarve::emulated::find_profile("a100");
  const std::string path = folder() + "/gpu-0-1.ring";
  {
    const unstarve::FileDescriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) return -1;
  }
  unstarve::emulated::DeviceWatch watch(*profile, 0, folder(), 0);
  watch.follow(kNowNs);
  watch.follow(2 * kNowNs);
  return watch.history().latest().utilization_ratio <= 1.0 ? 0 : -1;
}
