#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "job/rank/host_index.h"
#include "job/rank/rank.h"
#include "job/set_aside.h"
#include "trace/timeline/timeline.h"

namespace unstarve::job {

/// What ran on one device.
struct DeviceWork {
  std::int32_t device = 0;
  std::vector<std::uint32_t> ops;  // indices into Timeline::device_ops, by start; at least one
  std::size_t rank = 0;            // whose it is: an index into JobView::ranks
};

/// The one view of what a recording holds; see the folder's README. Made once; the Timeline, which
/// is sorted by start, must outlive it. Immutable, so any thread may read it.
///
///   const JobView job(timeline);
///   for (const DeviceWork& work : job.devices) partition(work, job.rank_of(work));
class JobView {
 public:
  explicit JobView(const trace::Timeline& timeline);

  const trace::Timeline& timeline() const { return timeline_; }
  const HostIndex& host() const { return host_; }
  /// Devices that ran something, by index; none where all are set aside.
  const std::vector<DeviceWork>& devices() const { return devices_; }
  /// What ran on devices that take no part in the training, where none does: the job is then seen
  /// as one of which no device was recorded.
  const std::optional<SetAside>& set_aside() const { return set_aside_; }
  /// One for each process that launches a device's work. Where no device ran anything, one for each
  /// that steps and says which rank of a job it is, or else for the process with the most steps.
  /// Never empty.
  const std::vector<Rank>& ranks() const { return ranks_; }

  const Rank& rank_of(const DeviceWork& work) const { return ranks_[work.rank]; }

 private:
  void gather_devices();
  void gather_hosts();
  std::size_t rank_launching(const std::vector<std::uint32_t>& ops);

  const trace::Timeline& timeline_;
  HostIndex host_;
  std::vector<DeviceWork> devices_;
  std::optional<SetAside> set_aside_;
  std::vector<Rank> ranks_;
};

}  // namespace unstarve::job
