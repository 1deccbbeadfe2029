#include "device/emulated/duration/duration_model.h"

#include <algorithm>
#include <cmath>

namespace unstarve::emulated {

std::shared_ptr<const DurationModel> DurationModel::create(
    const Profile& profile, std::shared_ptr<const DurationTable> table, double scale) {
  return std::shared_ptr<const DurationModel>(new DurationModel(profile, std::move(table), scale));
}

DurationModel::DurationModel(const Profile& profile, std::shared_ptr<const DurationTable> table,
                             double scale)
    : profile_(profile), table_(std::move(table)), scale_(scale) {}

KernelClass DurationModel::classify(std::string_view name) const { return classify_kernel(name); }

Estimate DurationModel::scaled(Estimate estimate) const {
  estimate.ns = std::llround(static_cast<double>(estimate.ns) * scale_);
  return estimate;
}

Estimate DurationModel::estimate(const KernelClass& kernel, const KernelWork& work) const {
  double blocks = 1;
  double threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    blocks *= work.grid[axis];
    threads *= work.block[axis];
  }
  const double bytes = blocks * threads * kernel.items_per_thread * kernel.bytes_per_item;
  const double rate = profile_.peak.memory_bytes_per_s * profile_.achieved.memory_ratio;
  const double resident = std::max(1.0, profile_.max_threads_per_multiprocessor / threads);
  Estimate estimate;
  estimate.ns = profile_.kernel_fixed_ns + std::llround(bytes / rate * 1e9);
  estimate.share = std::min(1.0, blocks / (profile_.multiprocessors * resident));
  return scaled(estimate);
}

Estimate DurationModel::estimate(const MatmulWork& work) const {
  OtherWork other;
  const double m = static_cast<double>(work.m);
  const double n = static_cast<double>(work.n);
  const double k = static_cast<double>(work.k);
  const double batch = static_cast<double>(work.batch);
  other.flops = 2 * m * n * k * batch;
  other.bytes = batch * ((m * k + k * n) * bytes_of(work.input) + m * n * bytes_of(work.output));
  other.type = work.input;
  other.tensor_cores = work.input != NumberType::kF32 || work.tf32;
  return estimate(other);
}

Estimate DurationModel::estimate(const ConvolutionWork& work) const {
  OtherWork other;
  const auto volume = [](const std::array<std::int64_t, 3>& sizes) {
    return static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) *
           static_cast<double>(sizes[2]);
  };
  const double batch = static_cast<double>(work.batch);
  const double in = static_cast<double>(work.input_channels);
  const double out = static_cast<double>(work.output_channels);
  const double groups = static_cast<double>(std::max<std::int64_t>(1, work.groups));
  const double weights = in / groups * out * volume(work.filter);
  other.flops = 2 * batch * volume(work.output) * weights;
  other.bytes = bytes_of(work.type) *
                (batch * (in * volume(work.input) + out * volume(work.output)) + weights);
  other.type = work.type;
  other.tensor_cores = work.type != NumberType::kF32 || work.tf32;
  return estimate(other);
}

Estimate DurationModel::estimate(const OtherWork& work) const {
  const PeakRates& peak = profile_.peak;
  double flops = peak.f32_flops * profile_.achieved.f32_ratio;
  if (work.type == NumberType::kF64) flops = peak.f64_flops;
  if (work.tensor_cores) flops = peak.f16_tensor_flops * profile_.achieved.f16_ratio;
  if (work.tensor_cores && work.type == NumberType::kF32 && peak.tf32_tensor_flops > 0) {
    flops = peak.tf32_tensor_flops * profile_.achieved.tf32_ratio;
  }
  const double rate = peak.memory_bytes_per_s * profile_.achieved.memory_ratio;
  Estimate estimate;
  estimate.ns = profile_.kernel_fixed_ns * work.kernels +
                std::llround(1e9 * std::max(work.flops / flops, work.bytes / rate));
  return scaled(estimate);
}

}  // namespace unstarve::emulated
