#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_handle.h"
#include "device/emulated/activity_history.h"

/// The emulated GPU's NVML library reads rings that another process writes, in whatever program
/// loaded it: no bytes may crash or stall it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kNowNs = 5'000'000'000;
  const unstarve::FileDescriptor file(::memfd_create("ring", MFD_CLOEXEC));
  if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) return -1;
  auto history = unstarve::device::emulated::ActivityHistory::open("/proc/self/fd/" +
                                                                   std::to_string(file.get()));
  if (!history) return 0;
  (void)history->follow(kNowNs);
  history->end_at(kNowNs);
  (void)history->follow(2 * kNowNs);
  return history->latest().utilization_ratio <= 1.0 ? 0 : -1;
}
