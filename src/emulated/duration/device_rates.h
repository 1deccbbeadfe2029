#pragma once

#include "emulated/duration/work.h"
#include "emulated/profile/profile.h"

namespace unstarve::emulated {

/// What a device of a profile computes and moves, and the time that the shortest work takes. All
/// times in ns, as double: they are added up before they are rounded.
class DeviceRates {
 public:
  explicit DeviceRates(const Profile& profile);

  /// Numbers of matrix products: f32 without TF32 runs on the plain cores.
  double matmul_flops(NumberType type, bool tensor_cores) const;
  double plain_flops(NumberType type) const;
  /// To read and write so many bytes, `threads` of them at a time; `ratio` of the memory's achieved
  /// rate is what the pattern of access reaches. What fits the second-level cache is partly there.
  double memory_ns(double bytes, double threads, double ratio = 1) const;
  double memory_ns(double bytes) const { return memory_ns(bytes, resident_threads_); }

  double fixed_ns() const { return fixed_ns_; }
  double multiprocessors() const { return multiprocessors_; }
  double resident_threads() const { return resident_threads_; }

 private:
  const PeakRates peak_;
  const AchievedRatios achieved_;
  double fixed_ns_ = 0;
  double multiprocessors_ = 1;
  double resident_threads_ = 1;
  double l2_bytes_ = 0;
  double memory_bytes_per_ns_ = 1;
  double l2_bytes_per_ns_ = 1;
};

}  // namespace unstarve::emulated
