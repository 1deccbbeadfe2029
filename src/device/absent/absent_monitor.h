#pragma once

#include <string>
#include <utility>

#include "device/gpu_monitor.h"

namespace unstarve::device {

/// A machine on which no GPU can be observed; source() says why.
class AbsentMonitor final : public GpuMonitor {
 public:
  explicit AbsentMonitor(std::string why) : why_(std::move(why)) {}

  Result<std::vector<GpuDescription>> enumerate() override { return std::vector<GpuDescription>{}; }
  Result<GpuReadings> read(std::int32_t index) override {
    return fail(ErrorCode::kNotFound, "there is no GPU {}: {}", index, why_);
  }
  Result<std::vector<UtilizationSample>> utilization_samples(std::int32_t index) override {
    return fail(ErrorCode::kNotFound, "there is no GPU {}: {}", index, why_);
  }
  std::string source() const override { return "no GPU: " + why_; }

 private:
  std::string why_;
};

}  // namespace unstarve::device
