#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "trace/timeline/timeline.h"

namespace unstarve::trace {

/// The devices that ran something, ascending. Errors: kCorruptData where they are more than any
/// machine has; each is looked at against all that the host did, which takes as long as they are
/// many.
Result<std::vector<std::int32_t>> used_devices(const Timeline& timeline);

/// Lists the devices that ran something, as `described` describes them: the last one of an index.
/// Errors: those of used_devices().
Status list_devices(const std::vector<DeviceInfo>& described, Timeline& timeline);

}  // namespace unstarve::trace
