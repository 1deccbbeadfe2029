#include <cstddef>
#include <cstdint>
#include <string_view>

#include "predict/worker_calibration.h"
#include "trace/text/hook_text.h"

namespace {

using namespace unstarve;

bool can_be_calculated_with(const predict::MeasuredCrew& crew) {
  return crew.workers >= 1 && crew.batches >= 1 && crew.cpu.mean_s > 0 && crew.wall.mean_s > 0;
}

}  // namespace

/// The text of a ring is written by a process of the job: no bytes may crash its readers, and what
/// they accept can be calculated with.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)trace::parse_hook_text(text);
  const predict::CalibrationText read = predict::read_worker_calibration(text);
  if (!read.measured) return 0;
  const bool usable =
      can_be_calculated_with(read.measured->one) && can_be_calculated_with(read.measured->many);
  return usable ? 0 : -1;
}
