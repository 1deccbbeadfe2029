#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/run_rows.h"

namespace unstarve::trace {

/// What the text of a device ring says: the device, and the names that its kernels refer to.
struct DeviceRingText {
  DeviceRow device;
  std::vector<std::string> names;
};
/// Every key may be missing or of a wrong type; what cannot be used is left out. Nothing when it is
/// no JSON object, as in the moment in which it is rewritten.
std::optional<DeviceRingText> parse_device_ring_text(std::string_view json);

/// Hands one record of a device ring (a CUPTI activity record, base/cupti_ring.h) to `sink` as a
/// device operation or a host call. True also for kinds that have nothing to say here; false for
/// damaged records.
bool decode_device_activity(std::span<const std::byte> record,
                            const std::vector<std::string>& kernel_names, RunSink& sink);

}  // namespace unstarve::trace
