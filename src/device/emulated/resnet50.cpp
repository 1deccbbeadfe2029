#include "device/emulated/resnet50.h"

#include <algorithm>

namespace unstarve::device::emulated {

namespace {

constexpr double kBytesPerElement = 4;  // activations, weights and gradients are float32
constexpr double kClasses = 1000;
constexpr double kImageElements = 3.0 * 224 * 224;
constexpr int kOptimizerLaunches = 4;
// Weight, gradient and momentum are read, weight and momentum written.
constexpr double kOptimizerBytesPerParameter = 5 * kBytesPerElement;

struct Convolution {
  double in_channels = 0;
  double out_channels = 0;
  double kernel = 1;
  double in_size = 0;  // height and width of the input
  double stride = 1;

  double out_size() const { return in_size / stride; }
  double weights() const { return kernel * kernel * in_channels * out_channels; }
  double input_elements() const { return in_channels * in_size * in_size; }
  double output_elements() const { return out_channels * out_size() * out_size(); }
  double macs() const { return weights() * out_size() * out_size(); }
};

/// Collects kernels with durations per sample that are right in proportion to one another.
class Builder {
 public:
  explicit Builder(const Profile& profile) : profile_(profile) {}

  void convolution(const Convolution& layer, bool input_needs_gradient) {
    const double bytes = kBytesPerElement * (layer.input_elements() + layer.output_elements());
    const double ns = roofline_ns(2 * layer.macs(), bytes);
    forward(KernelId::kConvForward, ns);
    backward(KernelId::kConvWeightGradient, ns);
    if (input_needs_gradient) backward(KernelId::kConvDataGradient, ns);
    model_.parameters += static_cast<std::int64_t>(layer.weights() + 2 * layer.out_channels);
    model_.macs_per_sample += layer.macs();
    batch_norm(layer.output_elements());
  }

  /// Forward reads twice (statistics, then values) and writes once; backward reads the input and
  /// the gradient twice. The convolution's and the normalised output stay for backward.
  void batch_norm(double elements) {
    forward(KernelId::kBatchNormForward, roofline_ns(0, 3 * kBytesPerElement * elements));
    backward(KernelId::kBatchNormBackward, roofline_ns(0, 5 * kBytesPerElement * elements));
    activations_ += 2 * elements;
  }

  void residual_add(double elements) {
    const double ns = roofline_ns(0, 3 * kBytesPerElement * elements);
    forward(KernelId::kAddRelu, ns);
    backward(KernelId::kAddReluBackward, ns);
  }

  void max_pool(double in_elements, double out_elements) {
    const double ns = roofline_ns(0, kBytesPerElement * (in_elements + 2 * out_elements));
    forward(KernelId::kMaxPoolForward, ns);
    backward(KernelId::kMaxPoolBackward, ns);
    activations_ += out_elements;
  }

  void classifier(double in_elements, double features) {
    const double pool_ns = roofline_ns(0, kBytesPerElement * in_elements);
    forward(KernelId::kAveragePoolForward, pool_ns);
    const double linear_ns = roofline_ns(2 * features * kClasses, 0);
    forward(KernelId::kLinear, linear_ns);
    const double softmax_ns = roofline_ns(0, 3 * kBytesPerElement * kClasses);
    forward(KernelId::kSoftmaxForward, softmax_ns);
    // Pushed in the order of forward: backward() below turns the whole list round.
    backward(KernelId::kAveragePoolBackward, pool_ns);
    backward(KernelId::kLinear, linear_ns);
    backward(KernelId::kLinear, linear_ns);
    backward(KernelId::kSoftmaxBackward, softmax_ns);
    model_.parameters += static_cast<std::int64_t>((features + 1) * kClasses);
    model_.macs_per_sample += features * kClasses;
  }

  TrainingModel finish() {
    std::reverse(model_.backward.begin(), model_.backward.end());
    add_optimizer();
    scale_to_reference();
    // Not part of the published time: a loader that sends float32 has normalised on the host.
    const double normalize_ns = roofline_ns(0, (1 + kBytesPerElement) * kImageElements);
    model_.normalize.push_back(kernel(KernelId::kNormalize, normalize_ns));
    model_.state_bytes =
        static_cast<std::int64_t>(3 * kBytesPerElement * static_cast<double>(model_.parameters));
    model_.activation_bytes_per_sample = static_cast<std::int64_t>(kBytesPerElement * activations_);
    return std::move(model_);
  }

 private:
  double roofline_ns(double flops, double bytes) const {
    return 1e9 * std::max(flops / profile_.math_flops, bytes / profile_.memory_bytes_per_s);
  }
  KernelLaunch kernel(KernelId id, double per_sample_ns) const {
    return {id, 16, static_cast<double>(profile_.kernel_fixed_ns), per_sample_ns};
  }
  void forward(KernelId id, double ns) { model_.forward.push_back(kernel(id, ns)); }
  void backward(KernelId id, double ns) { model_.backward.push_back(kernel(id, ns)); }

  /// The optimizer's work depends on the parameters alone, not on the batch.
  void add_optimizer() {
    const double bytes = kOptimizerBytesPerParameter * static_cast<double>(model_.parameters);
    KernelLaunch launch = kernel(KernelId::kOptimizer, 0);
    launch.fixed_ns += roofline_ns(0, bytes) / kOptimizerLaunches;
    model_.optimizer.assign(kOptimizerLaunches, launch);
  }

  /// Stretches the parts that grow with the batch until the step has its published length.
  void scale_to_reference() {
    double fixed_ns = 0;
    double per_sample_ns = 0;
    for (const auto* list : {&model_.forward, &model_.backward, &model_.optimizer}) {
      for (const KernelLaunch& each : *list) {
        fixed_ns += each.fixed_ns;
        per_sample_ns += each.per_sample_ns;
      }
    }
    const double target_ns =
        (1e9 * profile_.reference_step_s - fixed_ns) / profile_.reference_batch;
    const double stretch = target_ns / per_sample_ns;
    for (auto* list : {&model_.forward, &model_.backward}) {
      for (KernelLaunch& each : *list) each.per_sample_ns *= stretch;
    }
  }

  const Profile& profile_;
  TrainingModel model_;
  double activations_ = 0;  // elements per sample
};

struct Stage {
  double width = 0;
  int blocks = 0;
  double stride = 1;
};

}  // namespace

TrainingModel resnet50(const Profile& profile) {
  Builder builder(profile);
  const Convolution stem{3, 64, 7, 224, 2};
  builder.convolution(stem, false);
  builder.max_pool(stem.output_elements(), 64.0 * 56 * 56);

  double channels = 64;
  double size = 56;
  for (const Stage& stage : {Stage{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}}) {
    for (int block = 0; block < stage.blocks; ++block) {
      const double stride = block == 0 ? stage.stride : 1;
      const double out_channels = 4 * stage.width;
      builder.convolution({channels, stage.width, 1, size, 1}, true);
      builder.convolution({stage.width, stage.width, 3, size, stride}, true);
      builder.convolution({stage.width, out_channels, 1, size / stride, 1}, true);
      if (block == 0) builder.convolution({channels, out_channels, 1, size, stride}, true);
      size /= stride;
      channels = out_channels;
      builder.residual_add(channels * size * size);
    }
  }
  builder.classifier(channels * size * size, channels);
  return builder.finish();
}

}  // namespace unstarve::device::emulated
