#include "diagnose/partition/over_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "job/device_time.h"

namespace unstarve::diagnose {
namespace {

using trace::Interval;

constexpr std::size_t kPieces = 240;

/// Time that is added up in equal pieces of a span.
class Pieces {
 public:
  explicit Pieces(const Interval& span) : span_(span), ns_(kPieces, 0) {}

  void add(const Interval& when) {
    visit(when, [this](std::size_t piece, const Interval& within) {
      ns_[piece] += static_cast<double>(within.duration_ns());
    });
  }
  /// Calls `act` with each piece that `when` reaches, and with what of it lies there.
  template <class Act>
  void visit(const Interval& when, const Act& act) const {
    const std::int64_t from = std::max(when.start_ns, span_.start_ns);
    const std::int64_t to = std::min(when.end_ns, span_.end_ns);
    for (std::size_t piece = piece_at(from); piece < kPieces && start_of(piece) < to; ++piece) {
      const Interval within = {std::max(from, start_of(piece)), std::min(to, start_of(piece + 1))};
      if (within.end_ns > within.start_ns) act(piece, within);
    }
  }
  const std::vector<double>& ns() const { return ns_; }

 private:
  std::int64_t start_of(std::size_t piece) const {
    return span_.start_ns +
           static_cast<std::int64_t>(static_cast<double>(span_.duration_ns()) *
                                     static_cast<double>(piece) / static_cast<double>(kPieces));
  }
  std::size_t piece_at(std::int64_t t_ns) const {
    const double at = static_cast<double>(t_ns - span_.start_ns) /
                      static_cast<double>(span_.duration_ns()) * static_cast<double>(kPieces);
    // Of the piece before, where rounding says so: visit() passes over what is not inside.
    return static_cast<std::size_t>(std::max(at - 1, 0.0));
  }

  Interval span_;
  std::vector<double> ns_;
};

/// A part's time as shares of what was recorded; a piece of which nothing was has none.
PartitionOverTime::Part part_of(std::string cause, const std::vector<double>& ns,
                                const std::vector<double>& recorded_ns) {
  PartitionOverTime::Part part{std::move(cause), {}};
  for (std::size_t i = 0; i < ns.size(); ++i) {
    part.shares.push_back(recorded_ns[i] > 0 ? std::clamp(ns[i] / recorded_ns[i], 0.0, 1.0)
                                             : std::numeric_limits<double>::quiet_NaN());
  }
  return part;
}

/// What of each piece copies and communication take alone: the rest of what is not idle computes.
void add_moving(const job::JobView& job, const DevicePartition& device, const Pieces& recorded,
                Pieces& communication, Pieces& copies) {
  const auto work = std::find_if(job.devices().begin(), job.devices().end(),
                                 [&](const auto& one) { return one.device == device.device; });
  if (work == job.devices().end()) return;
  std::vector<std::vector<Interval>> spans(kPieces);
  for (const job::RecordedPart& part : device.parts) {
    recorded.visit(part.when, [&](std::size_t piece, const Interval& within) {
      spans[piece].push_back(within);
    });
  }
  std::vector<std::vector<std::uint32_t>> ops(kPieces);
  for (const std::uint32_t op : work->ops) {
    const trace::DeviceOp& one = job.timeline().device_ops[op];
    recorded.visit({one.start_ns, one.end_ns},
                   [&](std::size_t piece, const Interval&) { ops[piece].push_back(op); });
  }
  for (std::size_t i = 0; i < kPieces; ++i) {
    if (spans[i].empty()) continue;
    const std::int64_t start_ns = spans[i].front().start_ns;
    job::DeviceTimeSweep sweep(std::move(spans[i]));
    for (const std::uint32_t op : ops[i]) sweep.add(job.timeline().device_ops[op]);
    communication.add({start_ns, start_ns + sweep.time().exposed_communication_ns});
    copies.add({start_ns, start_ns + sweep.time().exposed_copy_ns});
  }
}

std::vector<PartitionOverTime::Part> device_parts(const job::JobView& job,
                                                  const DevicePartition& device, Pieces& recorded) {
  for (const job::RecordedPart& part : device.parts) recorded.add(part.when);
  std::vector<Pieces> by_cause(kCauseCount, Pieces(device.span));
  const auto of = [&by_cause](Cause cause) -> Pieces& {
    return by_cause[static_cast<std::size_t>(cause)];
  };
  for (const IdleSlice& slice : device.idle) of(slice.cause).add(slice.when);
  add_moving(job, device, recorded, of(Cause::kExposedCommunication), of(Cause::kExposedCopy));
  std::vector<double> computing = recorded.ns();
  for (const Pieces& other : by_cause) {
    for (std::size_t i = 0; i < kPieces; ++i) computing[i] -= other.ns()[i];
  }
  std::vector<PartitionOverTime::Part> parts;
  for (const Cause cause : kAllCauses) {
    const std::vector<double>& ns = cause == Cause::kGpuCompute ? computing : of(cause).ns();
    parts.push_back(part_of(std::string(to_string(cause)), ns, recorded.ns()));
  }
  return parts;
}

/// Of the steps that are there: a long run no longer holds all of them.
std::vector<PartitionOverTime::Part> waiting_parts(const job::Rank& rank, const Interval& span,
                                                   Pieces& recorded) {
  Pieces waiting(span);
  auto wait = rank.waits.begin();
  for (const trace::Step& step : rank.training_steps()) {
    recorded.add(step.when);
    while (wait != rank.waits.end() && wait->end_ns <= step.when.start_ns) ++wait;
    for (auto inside = wait; inside != rank.waits.end() && inside->start_ns < step.when.end_ns;
         ++inside) {
      waiting.add({std::max(inside->start_ns, step.when.start_ns),
                   std::min(inside->end_ns, step.when.end_ns)});
    }
  }
  std::vector<double> own = recorded.ns();
  for (std::size_t i = 0; i < kPieces; ++i) own[i] -= waiting.ns()[i];
  return {part_of("own_work", own, recorded.ns()),
          part_of("input_wait", waiting.ns(), recorded.ns())};
}

}  // namespace

PartitionOverTime partition_over_time(const PartitionedJob& job) {
  PartitionOverTime shares;
  const DevicePartition* const device = job.worst();
  const Reading<Interval>& training = job.rank().span;
  if (device == nullptr && !training) return shares;
  shares.span = device != nullptr ? device->span : *training;
  if (shares.span.end_ns <= shares.span.start_ns) return shares;
  Pieces recorded(shares.span);
  shares.parts = device != nullptr ? device_parts(job.job, *device, recorded)
                                   : waiting_parts(job.rank(), shares.span, recorded);
  shares.recorded_ns = recorded.ns();
  std::erase_if(shares.parts, [](const PartitionOverTime::Part& part) {
    return std::none_of(part.shares.begin(), part.shares.end(),
                        [](double share) { return std::isfinite(share) && share > 0; });
  });
  return shares;
}

}  // namespace unstarve::diagnose
