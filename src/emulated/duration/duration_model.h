#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "emulated/duration/device_rates.h"
#include "emulated/duration/duration_table.h"
#include "emulated/duration/kernel_class.h"
#include "emulated/duration/work.h"
#include "emulated/profile/profile.h"

namespace unstarve::emulated {

/// Where a duration comes from, in order of trust.
enum class DurationSource : std::uint8_t { kRecorded, kRoofline };

struct Estimate {
  std::int64_t ns = 0;
  double share = 1;  // of the device that the work occupies, 0..1
  DurationSource source = DurationSource::kRoofline;
};

/// How long work takes on a GPU of a profile: as a recording from a real one says, else by what the
/// work must compute and move at the least. It depends on operation, shapes and types alone.
///
///   auto model = DurationModel::create(profile);
///   const KernelClass kernel = model->classify(name);       // once per kernel
///   const Estimate estimate = model->estimate(kernel, work);  // per launch, < 100 ns
///
/// Thread rule: any thread; nothing changes after create().
class DurationModel {
 public:
  /// What is not in `table` (it may be nullptr) is by the roofline; every duration is multiplied by
  /// `scale`, which brings a job's total to a published step time.
  static std::shared_ptr<const DurationModel> create(const Profile& profile,
                                                     std::shared_ptr<const DurationTable> table,
                                                     double scale = 1);
  static std::shared_ptr<const DurationModel> create(const Profile& profile) {
    return create(profile, nullptr);
  }

  /// What a kernel's name says, mangled or not. Takes microseconds: keep it beside the kernel.
  KernelClass classify(std::string_view name) const;

  /// `kernel` is what classify() made of the work's name.
  Estimate estimate(const KernelClass& kernel, const KernelWork& work) const;
  Estimate estimate(const KernelWork& work) const { return estimate(classify(work.name), work); }
  Estimate estimate(const MatmulWork& work) const;
  Estimate estimate(const ConvolutionWork& work) const;
  Estimate estimate(const OtherWork& work) const;

  std::int64_t duration_ns(const KernelWork& work) const { return estimate(work).ns; }
  std::int64_t duration_ns(const MatmulWork& work) const { return estimate(work).ns; }
  std::int64_t duration_ns(const ConvolutionWork& work) const { return estimate(work).ns; }
  std::int64_t duration_ns(const OtherWork& work) const { return estimate(work).ns; }
  double share(const KernelWork& work) const { return estimate(work).share; }

 private:
  DurationModel(const Profile& profile, std::shared_ptr<const DurationTable> table, double scale);
  Estimate scaled(double ns, double share, DurationSource source) const;

  const Profile profile_;
  const DeviceRates rates_;
  const std::shared_ptr<const DurationTable> table_;
  const double scale_;
};

}  // namespace unstarve::emulated
