#include "observe/durations/device_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "emulated/profile/profile.h"

namespace unstarve::observe {

namespace {

using emulated::Profile;
using Json = nlohmann::json;

constexpr double kMemoryTolerance = 0.1;

/// How far a profile is from the device: its generation counts most, then its multiprocessors, then
/// its memory.
double distance(const Profile& profile, const TracedDevice& device) {
  const double generation = std::abs(10 * profile.compute_major + profile.compute_minor -
                                     10 * device.compute_major - device.compute_minor);
  const double multiprocessors =
      std::abs(std::log(profile.multiprocessors / std::max(1.0, 1.0 * device.multiprocessors)));
  const double memory = std::abs(std::log(static_cast<double>(profile.total_memory_bytes) /
                                          std::max(1.0, static_cast<double>(device.memory_bytes))));
  return 100 * generation + 10 * multiprocessors + memory;
}

bool is_same(const Profile& profile, const TracedDevice& device) {
  const double memory = static_cast<double>(profile.total_memory_bytes);
  return profile.compute_major == device.compute_major &&
         profile.compute_minor == device.compute_minor &&
         profile.multiprocessors == device.multiprocessors &&
         std::abs(memory - static_cast<double>(device.memory_bytes)) < kMemoryTolerance * memory;
}

/// The nearest with its rates in proportion to the multiprocessors.
Json resized(const Profile& profile, const TracedDevice& device) {
  const double ratio = static_cast<double>(device.multiprocessors) / profile.multiprocessors;
  const emulated::PeakRates& peak = profile.peak;
  return {{"architecture",
           {{"source", "the trace's device properties, and " + profile.name},
            {"multiprocessors", device.multiprocessors},
            {"total_memory_bytes", device.memory_bytes}}},
          {"peak",
           {{"source", "those of " + profile.name + " by multiprocessor"},
            {"f64_flops", peak.f64_flops * ratio},
            {"f64_tensor_flops", peak.f64_tensor_flops * ratio},
            {"f32_flops", peak.f32_flops * ratio},
            {"tf32_tensor_flops", peak.tf32_tensor_flops * ratio},
            {"f16_tensor_flops", peak.f16_tensor_flops * ratio},
            {"f8_tensor_flops", peak.f8_tensor_flops * ratio},
            {"i8_tensor_ops", peak.i8_tensor_ops * ratio}}}};
}

}  // namespace

Result<std::string> device_profile(const TracedDevice& device) {
  if (device.compute_major < 3 || device.multiprocessors < 1 || device.memory_bytes < 1 << 30) {
    return fail(ErrorCode::kNotFound,
                "the trace does not say which GPU it is from; name a profile as well");
  }
  Profile nearest;
  double least = std::numeric_limits<double>::max();
  for (const std::string& name : emulated::profile_names()) {
    const Result<Profile> profile = emulated::find_profile(name);
    if (!profile) return forward_error(profile);
    const double found = distance(*profile, device);
    if (found >= least) continue;
    least = found;
    nearest = *profile;
  }
  Result<std::string> document = emulated::find_profile_document(nearest.name);
  if (!document) return document;
  Json json = Json::parse(*document, nullptr, false);
  json["name"] = "traced";
  json["device_name"] = "Emulated " + (device.name.empty() ? nearest.device_name : device.name);
  if (!is_same(nearest, device)) json.merge_patch(resized(nearest, device));
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace unstarve::observe
