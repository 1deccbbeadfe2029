#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/cgroup.h"
#include "host/cpu_energy.h"
#include "host/process_identity.h"
#include "host/procfs.h"
#include "host/thread_look.h"

/// The kernel writes these texts, but a container may mount anything in their place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve::host;
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  (void)parse_process_stat(text);
  (void)parse_process_identity(text);
  (void)parse_process_io(text);
  (void)parse_scheduler_stat(text);
  (void)parse_process_status(text);
  (void)parse_memory_info(text);
  (void)parse_cpu_times(text);
  (void)cpuinfo_value(text, "model name");
  (void)parse_pressure(text);
  (void)count_cpu_list(text);
  (void)parse_cpu_max(text);
  (void)parse_flat_keyed(text, "nr_throttled");
  (void)parse_io_stat(text);
  (void)parse_blkio_bytes(text);
  (void)parse_microjoules(text);
  (void)parse_cgroup_mount(text);
  (void)parse_blocked_call(text);
  (void)doing_with_descriptor(text);
  (void)doing_in_kernel_function(text);
  return 0;
}
