#include "roofline/roofs/gpu/data_sheet.h"

#include <algorithm>

namespace unstarve::roofline {

std::optional<emulated::PeakRates> data_sheet(const std::string& gpu_name) {
  for (const std::string& profile_name : emulated::profile_names()) {
    const auto profile = emulated::find_profile(profile_name);
    if (!profile) continue;
    if (profile->device_name == gpu_name || profile->device_name == "Emulated " + gpu_name) {
      return profile->peak;
    }
  }
  return std::nullopt;
}

double gemm_peak(const emulated::PeakRates& peak, const std::string& dtype) {
  if (dtype == "float32") return peak.f32_flops;
  if (dtype == "tf32") return peak.tf32_tensor_flops;
  if (dtype == "float8") return peak.f8_tensor_flops;
  if (dtype == "float64") return std::max(peak.f64_flops, peak.f64_tensor_flops);
  return dtype == "float16" || dtype == "bfloat16" ? peak.f16_tensor_flops : 0;
}

}  // namespace unstarve::roofline
