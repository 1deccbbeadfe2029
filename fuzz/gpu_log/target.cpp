#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "observe/import/gpu_log/gpu_log.h"

/// A log may be anybody's text: it ends in samples that make sense, or in an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  const auto log = unstarve::observe::import_gpu_log_bytes(bytes, "gpu.csv");
  if (!log) {
    if (log.error().message.empty()) std::abort();
    return 0;
  }
  for (const auto& gpu : log->gpus) {
    if (gpu.samples.empty()) std::abort();
    for (const auto& sample : gpu.samples) {
      const double used = sample.utilisation.value_or(0);
      if (!(used >= 0 && used <= 1)) std::abort();
    }
    (void)unstarve::observe::span_of(gpu);
  }
  return 0;
}
