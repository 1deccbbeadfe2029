#include "job/device_time.h"

#include <algorithm>
#include <utility>

namespace unstarve::job {

DeviceTime& DeviceTime::operator+=(const DeviceTime& other) {
  compute_ns += other.compute_ns;
  exposed_communication_ns += other.exposed_communication_ns;
  exposed_copy_ns += other.exposed_copy_ns;
  communication_ns += other.communication_ns;
  copy_ns += other.copy_ns;
  return *this;
}

void DeviceTimeSweep::Union::add(std::int64_t from_ns, std::int64_t to_ns) {
  covered_ns += std::max<std::int64_t>(0, to_ns - std::max(from_ns, end_ns));
  end_ns = std::max(end_ns, to_ns);
}

DeviceTimeSweep::DeviceTimeSweep(const trace::Interval& span)
    : DeviceTimeSweep(std::vector<trace::Interval>{span}) {}

DeviceTimeSweep::DeviceTimeSweep(std::vector<trace::Interval> spans) : spans_(std::move(spans)) {
  for (Union* coverage : {&compute_, &with_communication_, &all_, &communication_, &copies_}) {
    coverage->end_ns = spans_.front().start_ns;
  }
}

// A piece may come after one that begins later. Whatever reached over there began before this
// operation does and covers it, so that no union counts it again.
void DeviceTimeSweep::add(const trace::DeviceOp& op) {
  while (next_ < spans_.size() && spans_[next_].end_ns <= op.start_ns) ++next_;
  for (std::size_t i = next_; i < spans_.size() && spans_[i].start_ns < op.end_ns; ++i) {
    add_piece(op.kind, std::max(op.start_ns, spans_[i].start_ns),
              std::min(op.end_ns, spans_[i].end_ns));
  }
}

void DeviceTimeSweep::add_piece(trace::DeviceOpKind kind, std::int64_t from_ns,
                                std::int64_t to_ns) {
  if (to_ns <= from_ns) return;
  all_.add(from_ns, to_ns);
  switch (kind) {
    case trace::DeviceOpKind::kCompute:
    case trace::DeviceOpKind::kMemset:
      compute_.add(from_ns, to_ns);
      with_communication_.add(from_ns, to_ns);
      break;
    case trace::DeviceOpKind::kCommunication:
      with_communication_.add(from_ns, to_ns);
      communication_.add(from_ns, to_ns);
      break;
    case trace::DeviceOpKind::kCopy: copies_.add(from_ns, to_ns); break;
  }
}

DeviceTime DeviceTimeSweep::time() const {
  DeviceTime time;
  time.compute_ns = compute_.covered_ns;
  time.exposed_communication_ns = with_communication_.covered_ns - compute_.covered_ns;
  time.exposed_copy_ns = all_.covered_ns - with_communication_.covered_ns;
  time.communication_ns = communication_.covered_ns;
  time.copy_ns = copies_.covered_ns;
  return time;
}

}  // namespace unstarve::job
