#include "device/emulated/profile.h"

#include <fmt/ranges.h>

namespace unstarve::device::emulated {

namespace {

constexpr std::int64_t kGiB = 1LL << 30;

// What both have in common. The launch cost is that of an eager framework, which passes an
// operator through its dispatcher for every kernel (5-10 us); the latency is that of an empty
// kernel on an idle stream.
Profile common() {
  Profile profile;
  profile.reference_batch = 400;
  profile.launch_host_ns = 6'000;
  profile.launch_latency_ns = 4'000;
  profile.kernel_fixed_ns = 500;
  profile.power_tau_s = 0.2;
  profile.ambient_c = 30;
  profile.temperature_tau_s = 25;
  profile.slowdown_c = 87;
  return profile;
}

// Peak TF32 rate and bandwidth by NVIDIA's data sheet, times what cuDNN usually reaches of them.
// PCIe 4.0 x16: 24 GB/s of its 31.5 are usual for large pinned copies.
Profile a100() {
  Profile profile = common();
  profile.name = "a100";
  profile.device_name = "Emulated NVIDIA A100-SXM4-80GB";
  profile.source =
      "MLPerf Storage, configs/dlio/workload/resnet50_a100.yaml: 0.435 s per batch of 400";
  profile.total_memory_bytes = 80 * kGiB;
  profile.reference_step_s = 0.435;
  profile.math_flops = 0.5 * 156e12;
  profile.memory_bytes_per_s = 0.8 * 2.039e12;
  profile.pinned_bytes_per_s = 24e9;
  profile.pageable_bytes_per_s = 6e9;
  profile.idle_w = 55;
  profile.peak_w = 420;
  profile.power_cap_w = 400;
  profile.celsius_per_w = 0.11;
  profile.idle_sm_mhz = 210;
  profile.boost_sm_mhz = 1410;
  profile.memory_mhz = 1593;
  return profile;
}

// PCIe 5.0 x16: 52 GB/s of its 63 are usual for large pinned copies.
Profile h100() {
  Profile profile = common();
  profile.name = "h100";
  profile.device_name = "Emulated NVIDIA H100 80GB HBM3";
  profile.source =
      "MLPerf Storage, configs/dlio/workload/resnet50_h100.yaml: 0.224 s per batch of 400";
  profile.total_memory_bytes = 80 * kGiB;
  profile.reference_step_s = 0.224;
  profile.math_flops = 0.5 * 494e12;
  profile.memory_bytes_per_s = 0.8 * 3.35e12;
  profile.pinned_bytes_per_s = 52e9;
  profile.pageable_bytes_per_s = 8e9;
  profile.idle_w = 70;
  profile.peak_w = 735;
  profile.power_cap_w = 700;
  profile.celsius_per_w = 0.065;
  profile.idle_sm_mhz = 345;
  profile.boost_sm_mhz = 1980;
  profile.memory_mhz = 2619;
  return profile;
}

}  // namespace

std::vector<std::string> profile_names() { return {"a100", "h100"}; }

Result<Profile> find_profile(std::string_view name) {
  if (name == "a100") return a100();
  if (name == "h100") return h100();
  return fail(ErrorCode::kInvalidArgument, "there is no emulated GPU \"{}\"; use one of: {}", name,
              fmt::join(profile_names(), ", "));
}

}  // namespace unstarve::device::emulated
