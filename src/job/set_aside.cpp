#include "job/set_aside.h"

#include <algorithm>
#include <string_view>

#include "job/device_time.h"
#include "job/job_view.h"
#include "job/rank/recorded.h"

namespace unstarve::job {
namespace {

/// What one device did in the steps of its rank and behind, as far as it was recorded.
struct Part {
  double steps = 0;
  std::int64_t operations = 0;
  std::int64_t busy_ns = 0;
  std::int64_t recorded_ns = 0;

  double busy_ratio() const {
    return static_cast<double>(busy_ns) / static_cast<double>(recorded_ns);
  }
};

/// `enough`: from one operation a step on nothing more need be known.
Part part_of(const trace::Timeline& timeline, const DeviceWork& work, const Rank& rank,
             bool enough) {
  Part part;
  if (!rank.span) return part;
  const std::vector<RecordedPart> parts = recorded_parts(rank, *rank.span);
  part.steps = steps_in(rank.steps, parts);
  std::vector<trace::Interval> recorded;
  for (const RecordedPart& piece : parts) {
    recorded.push_back(piece.when);
    part.recorded_ns += piece.when.duration_ns();
  }
  if (recorded.empty()) return part;
  DeviceTimeSweep sweep(recorded);
  for (const std::uint32_t i : work.ops) {
    const trace::DeviceOp& op = timeline.device_ops[i];
    // A queue that is longer than the steps runs what they launched behind them.
    if (op.end_ns > recorded.front().start_ns) ++part.operations;
    sweep.add(op);
    if (enough && static_cast<double>(part.operations) >= part.steps) break;
  }
  part.busy_ns = sweep.time().busy_ns();
  return part;
}

/// torch's word for where the trained parameters of a process lie; empty where nobody says it.
std::string_view trains_on(const trace::Timeline& timeline, const Rank& rank) {
  const trace::TrainingDevice* const device = timeline.device_of(rank.process);
  return device != nullptr ? std::string_view(device->kind) : std::string_view();
}

/// Where nobody says where the parameters lie, records that were lost may be of any work.
std::optional<AsideReason> reason_of(const trace::Timeline& timeline, const Part& part,
                                     std::string_view trains_on) {
  constexpr double kLittle = 0.1;  // of the recorded time, in which a GPU is busy
  constexpr double kNextToNothing = 0.01;
  if (part.recorded_ns <= 0) return std::nullopt;
  if (trains_on == "cpu") {
    if (part.busy_ratio() >= kLittle) return std::nullopt;
    return AsideReason::kTrainsOnHost;
  }
  constexpr double kFewestSteps = 2;  // a GPU may be left out of one
  const bool used = part.steps < kFewestSteps ||
                    static_cast<double>(part.operations) >= part.steps ||
                    part.busy_ratio() >= kNextToNothing || timeline.events_lost > 0;
  return used ? std::nullopt : std::optional(AsideReason::kHardlyUsed);
}

}  // namespace

std::optional<SetAside> without_part(const trace::Timeline& timeline,
                                     const std::vector<DeviceWork>& devices,
                                     const std::vector<Rank>& ranks) {
  std::optional<SetAside> aside;
  for (const DeviceWork& work : devices) {
    const Rank& rank = ranks[work.rank];
    const std::string_view kind = trains_on(timeline, rank);
    if (kind == "cuda") return std::nullopt;  // records of its work are missing, not the work
    const Part part = part_of(timeline, work, rank, kind.empty());
    const std::optional<AsideReason> reason = reason_of(timeline, part, kind);
    if (!reason) return std::nullopt;
    if (!aside) aside = SetAside{*reason};
    aside->operations += static_cast<std::int64_t>(work.ops.size());
    if (part.busy_ns >= aside->busy_ns) {
      aside->busy_ns = part.busy_ns;
      aside->of_ns = part.recorded_ns;
    }
  }
  return aside;
}

}  // namespace unstarve::job
