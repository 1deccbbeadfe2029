#include "emulated/duration/duration_model.h"

#include <algorithm>
#include <cmath>

#include "emulated/duration/convolution_time.h"
#include "emulated/duration/matmul_time.h"

namespace unstarve::emulated {

namespace {

// What a duration may be at most: sizes come from a program, which may ask for anything.
constexpr double kNsMax = 1e15;

double attention_ns(const DeviceRates& rates, const KernelClass& kernel, const KernelWork& work) {
  const AttentionShape& shape = kernel.attention;
  const AttentionSize size = attention_size(kernel, work);
  // Two products forward, five backward.
  const double products = shape.backward ? 5 : 2;
  const double flops = products * 2 * size.heads * size.queries * size.keys * size.head_dim *
                       (shape.causal ? 0.5 : 1);
  const double bytes = size.heads * (2 * size.queries + 2 * size.keys) * size.head_dim * 2 *
                       (shape.backward ? 2 : 1);
  const double rate = rates.matmul_flops(NumberType::kF16, true) * shape.flops_ratio;
  return std::max(flops / rate * 1e9, rates.memory_ns(bytes));
}

}  // namespace

std::shared_ptr<const DurationModel> DurationModel::create(
    const Profile& profile, std::shared_ptr<const DurationTable> table, double scale) {
  return std::shared_ptr<const DurationModel>(new DurationModel(profile, std::move(table), scale));
}

DurationModel::DurationModel(const Profile& profile, std::shared_ptr<const DurationTable> table,
                             double scale)
    : profile_(profile), rates_(profile), table_(std::move(table)), scale_(scale) {}

KernelClass DurationModel::classify(std::string_view name) const {
  KernelClass kernel = classify_kernel(name);
  if (table_ != nullptr) kernel.recorded = table_->find_kernel(name);
  return kernel;
}

Estimate DurationModel::scaled(double ns, double share, DurationSource source) const {
  Estimate estimate;
  estimate.ns = std::llround(std::clamp(ns * scale_, 1.0, kNsMax));
  estimate.share = share;
  estimate.source = source;
  return estimate;
}

Estimate DurationModel::estimate(const KernelClass& kernel, const KernelWork& work) const {
  const double blocks = volume(work.grid);
  const double block_threads = std::max(1.0, volume(work.block));
  const double resident =
      std::clamp(std::floor(profile_.max_threads_per_multiprocessor / block_threads), 1.0,
                 static_cast<double>(profile_.max_blocks_per_multiprocessor));
  const double share = std::min(1.0, blocks / (profile_.multiprocessors * resident));
  if (kernel.recorded != nullptr) {
    if (const auto ns = kernel.recorded->find(work.grid, work.block)) {
      return scaled(*ns, share, DurationSource::kRecorded);
    }
  }
  if (kernel.count == ItemCount::kAttention) {
    return scaled(rates_.fixed_ns() + attention_ns(rates_, kernel, work), share,
                  DurationSource::kRoofline);
  }
  const double items = items_of(kernel, work);
  const double memory =
      rates_.memory_ns(items * kernel.bytes_per_item, blocks * block_threads, kernel.memory_ratio);
  const double compute = items * kernel.flops_per_item / rates_.plain_flops(NumberType::kF32) * 1e9;
  return scaled(rates_.fixed_ns() + std::max(memory, compute), share, DurationSource::kRoofline);
}

Estimate DurationModel::estimate(const MatmulWork& work) const {
  if (table_ != nullptr) {
    if (const auto ns = table_->find(work)) return scaled(*ns, 1, DurationSource::kRecorded);
  }
  return scaled(matmul_ns(rates_, work), 1, DurationSource::kRoofline);
}

Estimate DurationModel::estimate(const ConvolutionWork& work) const {
  if (table_ != nullptr) {
    if (const auto ns = table_->find(work)) return scaled(*ns, 1, DurationSource::kRecorded);
  }
  return scaled(convolution_ns(rates_, work), 1, DurationSource::kRoofline);
}

Estimate DurationModel::estimate(const OtherWork& work) const {
  const double rate =
      work.tensor_cores ? rates_.matmul_flops(work.type, true) : rates_.plain_flops(work.type);
  const double kernels = std::max(1, work.kernels);
  const double ns =
      std::max(work.flops / rate * 1e9, rates_.memory_ns(work.bytes / kernels) * kernels);
  return scaled(kernels * rates_.fixed_ns() + ns, 1, DurationSource::kRoofline);
}

}  // namespace unstarve::emulated
