#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace unstarve::device::emulated {

/// A kind of kernel, as a profiler would name it, and how it strains the chip while it runs.
struct KernelKind {
  std::string_view name;
  double power_load = 0;  // share of the way from idle to peak power
  double dram_ratio = 0;  // share of its time in which device memory is read or written
};

/// Position in kernel_kinds().
enum class KernelId : std::uint32_t {
  kConvForward,
  kConvDataGradient,
  kConvWeightGradient,
  kBatchNormForward,
  kBatchNormBackward,
  kAddRelu,
  kAddReluBackward,
  kMaxPoolForward,
  kMaxPoolBackward,
  kAveragePoolForward,
  kAveragePoolBackward,
  kLinear,
  kSoftmaxForward,
  kSoftmaxBackward,
  kOptimizer,
  kNormalize,
};

std::span<const KernelKind> kernel_kinds();

/// The kind of that name; kernels that this build does not know count as average ones.
KernelKind kernel_kind_named(std::string_view name);

/// One launch: lasts fixed_ns + per_sample_ns * samples.
struct KernelLaunch {
  KernelId id = KernelId::kConvForward;
  std::int32_t grid_per_sample = 1;  // thread blocks, for the activity record only
  double fixed_ns = 0;
  double per_sample_ns = 0;

  std::int64_t duration_ns(double samples) const {
    return std::llround(fixed_ns + per_sample_ns * samples);
  }
};

/// What a training step of a model puts on the device.
struct TrainingModel {
  std::vector<KernelLaunch> normalize;  // before forward when the images arrive as uint8
  std::vector<KernelLaunch> forward;
  std::vector<KernelLaunch> backward;
  std::vector<KernelLaunch> optimizer;
  std::int64_t parameters = 0;
  double macs_per_sample = 0;                    // multiply-accumulates of one forward pass
  std::int64_t state_bytes = 0;                  // weights, gradients, momentum
  std::int64_t activation_bytes_per_sample = 0;  // kept from forward for backward
};

}  // namespace unstarve::device::emulated
