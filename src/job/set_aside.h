#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "job/rank/rank.h"
#include "trace/timeline/timeline.h"

namespace unstarve::job {

struct DeviceWork;

/// Why what was recorded of a job's GPUs tells nothing of where its time goes.
enum class AsideReason : std::uint8_t {
  kTrainsOnHost,  // the trained parameters lie in host memory, and the GPUs do little
  kHardlyUsed,    // nobody says where they lie; the GPUs run less than one operation a step
  kTooLittle,     // there are no steps, and a few operations or a moment of the recording
};

/// What was recorded of a job's GPUs and is not judged.
struct SetAside {
  AsideReason reason = AsideReason::kHardlyUsed;
  std::int64_t operations = 0;  // in all of the recording
  std::int64_t busy_ns = 0;     // of `of_ns`
  std::int64_t of_ns = 0;       // of the time in which the busiest device was recorded
};

/// Whether none of the devices takes part in the training: what ran there, and why it is not
/// judged.
std::optional<SetAside> without_part(const trace::Timeline& timeline,
                                     const std::vector<DeviceWork>& devices,
                                     const std::vector<Rank>& ranks);

}  // namespace unstarve::job
