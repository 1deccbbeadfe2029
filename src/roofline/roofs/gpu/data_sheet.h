#pragma once

#include <optional>
#include <string>

#include "emulated/profile/profile.h"

namespace unstarve::roofline {

/// What the vendor's data sheet says of this GPU, where we have it: the profiles that are emulated
/// bear the real ones' names.
std::optional<emulated::PeakRates> data_sheet(const std::string& gpu_name);

/// Operations a second in products of "float32", "tf32", "float16", "bfloat16", "float8" or
/// "float64", dense. 0: the data sheet has none.
double gemm_peak(const emulated::PeakRates& peak, const std::string& dtype);

}  // namespace unstarve::roofline
