#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace unstarve::diagnose {

/// What an instant of a device's time is given to; the order is that of the JSON object.
enum class Cause : std::uint8_t {
  kGpuCompute,
  kExposedCommunication,
  kExposedCopy,
  kInputWait,
  kSync,
  kLaunch,
  kKernelWait,
  kOther,
};
inline constexpr std::size_t kCauseCount = 8;
inline constexpr std::array<Cause, kCauseCount> kAllCauses = {
    Cause::kGpuCompute,  Cause::kExposedCommunication,
    Cause::kExposedCopy, Cause::kInputWait,
    Cause::kSync,        Cause::kLaunch,
    Cause::kKernelWait,  Cause::kOther};

/// "gpu_compute", "input_wait", ...: the spelling in JSON.
std::string_view to_string(Cause cause);

}  // namespace unstarve::diagnose
