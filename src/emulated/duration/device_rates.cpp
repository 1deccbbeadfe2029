#include "emulated/duration/device_rates.h"

#include <algorithm>
#include <cmath>

namespace unstarve::emulated {

namespace {

// Microbenchmarks of Volta, Turing and Ampere find 20 to 30 bytes a clock and multiprocessor from
// the second-level cache, 500 to 700 ns to memory and back under load, and a thread having up to
// four loads of 16 bytes under way.
constexpr double kCacheBytesPerClock = 24;
constexpr double kMemoryLatencyNs = 600;
constexpr double kBytesUnderWay = 64;
// Of a working set that just fits the cache, so much is still there when the next kernel comes.
constexpr double kCachedShare = 0.8;

}  // namespace

DeviceRates::DeviceRates(const Profile& profile)
    : peak_(profile.peak),
      achieved_(profile.achieved),
      fixed_ns_(static_cast<double>(profile.kernel_fixed_ns)),
      multiprocessors_(profile.multiprocessors),
      resident_threads_(static_cast<double>(profile.multiprocessors) *
                        profile.max_threads_per_multiprocessor),
      l2_bytes_(static_cast<double>(profile.l2_bytes)),
      memory_bytes_per_ns_(profile.peak.memory_bytes_per_s * profile.achieved.memory_ratio / 1e9),
      l2_bytes_per_ns_(
          std::max(memory_bytes_per_ns_, multiprocessors_ * kCacheBytesPerClock *
                                             static_cast<double>(profile.sm_clock_khz) / 1e6)) {}

double DeviceRates::plain_flops(NumberType type) const {
  if (type == NumberType::kF64 || type == NumberType::kC128) return peak_.f64_flops * 0.9;
  return peak_.f32_flops * achieved_.f32_ratio;
}

double DeviceRates::matmul_flops(NumberType type, bool tensor_cores) const {
  const double f16 = peak_.f16_tensor_flops * achieved_.f16_ratio;
  switch (type) {
    case NumberType::kF64:
    case NumberType::kC128: return std::max(peak_.f64_tensor_flops, peak_.f64_flops) * 0.9;
    case NumberType::kF16:
    case NumberType::kBf16: return f16;
    case NumberType::kF8:
      return peak_.f8_tensor_flops > 0 ? peak_.f8_tensor_flops * achieved_.f8_ratio : f16;
    case NumberType::kI8:
      return peak_.i8_tensor_ops > 0 ? peak_.i8_tensor_ops * achieved_.f16_ratio : f16;
    default: break;
  }
  const bool tf32 = tensor_cores && peak_.tf32_tensor_flops > 0;
  return tf32 ? peak_.tf32_tensor_flops * achieved_.tf32_ratio : plain_flops(type);
}

double DeviceRates::memory_ns(double bytes, double threads, double ratio) const {
  if (bytes <= 0) return 0;
  const double active = std::clamp(threads, 1.0, resident_threads_);
  const double cached = kCachedShare * std::max(0.0, 1 - bytes / l2_bytes_);
  const double stream_ns =
      bytes * ((1 - cached) / (memory_bytes_per_ns_ * ratio) + cached / l2_bytes_per_ns_);
  const double rounds = std::ceil(bytes / (active * kBytesUnderWay));
  return std::max(stream_ns, rounds * kMemoryLatencyNs);
}

}  // namespace unstarve::emulated
