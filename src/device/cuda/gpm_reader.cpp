#include "device/cuda/gpm_reader.h"

#include <memory>
#include <utility>

namespace unstarve::device {

namespace {

constexpr std::int64_t kRefreshNs = 100'000'000;
// A pair further apart than this says nothing about now.
constexpr std::int64_t kStaleNs = 10'000'000'000;

Reading<double> to_ratio(const nvml::GpmMetric& metric) {
  if (metric.status != nvml::Return::kSuccess) return WhyAbsent::kNotSupported;
  return metric.value / 100.0;
}

}  // namespace

GpmReader::GpmReader(const NvmlLibrary& library, nvml::DeviceHandle device,
                     std::optional<std::uint32_t> gpu_instance)
    : library_(library), device_(device), gpu_instance_(gpu_instance) {}

GpmReader::~GpmReader() {
  if (earlier_ != nullptr) library_.gpm_free(earlier_);
  if (later_ != nullptr) library_.gpm_free(later_);
}

void GpmReader::give_up(nvml::Return code) {
  given_up_ =
      code == nvml::Return::kNoPermission ? WhyAbsent::kNoPermission : WhyAbsent::kNotSupported;
}

bool GpmReader::prepare() {
  if (prepared_ || given_up_) return prepared_;
  const NvmlResult<bool> supported = library_.gpm_supported(device_);
  if (!supported || !*supported) {
    give_up(supported ? nvml::Return::kNotSupported : supported.error());
    return false;
  }
  for (nvml::GpmSample* sample : {&earlier_, &later_}) {
    const NvmlResult<nvml::GpmSample> allocated = library_.gpm_allocate();
    if (!allocated) {
      give_up(allocated.error());
      return false;
    }
    *sample = *allocated;
  }
  prepared_ = true;
  return true;
}

NvmlResult<bool> GpmReader::take_sample() {
  return gpu_instance_ ? library_.gpm_sample_of(device_, *gpu_instance_, later_)
                       : library_.gpm_sample(device_, later_);
}

void GpmReader::compare() {
  // 13 KB: too much for the stack of a sampler that may run anywhere.
  const auto metrics = std::make_unique<nvml::GpmMetrics>();
  metrics->earlier = earlier_;
  metrics->later = later_;
  metrics->count = 3;
  metrics->metrics[0].id = nvml::kGpmSmActivity;
  metrics->metrics[1].id = nvml::kGpmTensorActivity;
  metrics->metrics[2].id = nvml::kGpmDramActivity;
  const NvmlResult<bool> compared = library_.gpm_metrics(*metrics);
  if (!compared) return give_up(compared.error());
  sm_ = to_ratio(metrics->metrics[0]);
  tensor_ = to_ratio(metrics->metrics[1]);
  dram_ = to_ratio(metrics->metrics[2]);
}

void GpmReader::read(const Clock& clock, GpuReadings& readings) {
  const std::int64_t now_ns = clock.now_ns();
  if (prepare() && (!later_taken_ns_ || now_ns - *later_taken_ns_ >= kRefreshNs)) {
    std::swap(earlier_, later_);
    const bool have_earlier = later_taken_ns_ && now_ns - *later_taken_ns_ < kStaleNs;
    const NvmlResult<bool> taken = take_sample();
    if (taken) {
      later_taken_ns_ = now_ns;
      if (have_earlier) compare();
    } else {
      give_up(taken.error());
    }
  }
  if (given_up_) {
    sm_ = tensor_ = dram_ = Reading<double>(*given_up_);
  }
  readings.sm_activity_ratio = sm_;
  readings.tensor_activity_ratio = tensor_;
  readings.dram_activity_ratio = dram_;
}

}  // namespace unstarve::device
