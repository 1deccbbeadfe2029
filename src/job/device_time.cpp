#include "job/device_time.h"

#include <algorithm>

namespace unstarve::job {

void DeviceTimeSweep::Union::add(std::int64_t from_ns, std::int64_t to_ns) {
  covered_ns += std::max<std::int64_t>(0, to_ns - std::max(from_ns, end_ns));
  end_ns = std::max(end_ns, to_ns);
}

DeviceTimeSweep::DeviceTimeSweep(const trace::Interval& span) : span_(span) {
  for (Union* one : {&compute_, &with_communication_, &all_, &communication_, &copies_}) {
    one->end_ns = span.start_ns;
  }
}

void DeviceTimeSweep::add(const trace::DeviceOp& op) {
  const std::int64_t from_ns = std::max(op.start_ns, span_.start_ns);
  const std::int64_t to_ns = std::min(op.end_ns, span_.end_ns);
  if (to_ns <= from_ns) return;
  all_.add(from_ns, to_ns);
  switch (op.kind) {
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
