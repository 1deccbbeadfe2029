#include <cstddef>
#include <cstdint>
#include <string_view>

#include "predict/worker_calibration.h"

/// The text of a ring is written by a process of the job: no bytes may crash its reader, and what
/// it accepts can be calculated with.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const unstarve::predict::CalibrationText read = unstarve::predict::read_worker_calibration(text);
  if (!read.measured) return 0;
  const auto usable = [](const unstarve::predict::MeasuredCrew& crew) {
    return crew.workers >= 1 && crew.batches >= 1 && crew.cpu.mean_s > 0 && crew.wall.mean_s > 0;
  };
  return usable(read.measured->one) && usable(read.measured->many) ? 0 : -1;
}
