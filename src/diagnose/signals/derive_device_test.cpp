#include <gtest/gtest.h>

#include "diagnose/signals/derive.h"
#include "diagnose/testing/starving_run.h"

namespace unstarve::diagnose {
namespace {

void add_copy(std::int64_t at_ms, std::int32_t device, std::int64_t bytes, trace::Timeline& job) {
  trace::DeviceOp copy;
  copy.kind = trace::DeviceOpKind::kCopy;
  copy.direction = trace::CopyDirection::kHostToDevice;
  copy.device = device;
  copy.start_ns = at_ms * test::kMs;
  copy.end_ns = copy.start_ns + test::kMs;
  copy.bytes = bytes;
  job.device_ops.push_back(copy);
}

TEST(DeviceSignals, ABatchIsNeitherTheModelNorWhatAnotherDeviceGets) {
  trace::Timeline timeline = test::starving_run(6, 60, 30);
  add_copy(1, 0, 900'000'000, timeline);  // the model, before the first batch
  for (std::int64_t step = 1; step < 6; ++step) {
    add_copy(step * 100 + 62, 0, 77'000'000, timeline);
    add_copy(step * 100 + 64, 0, 2'048, timeline);
    add_copy(step * 100 + 62, 1, 5'000'000, timeline);
  }
  const job::JobView job(timeline);
  const HostSignals host;
  const Signals signals = derive_signals({PartitionedJob(job), host});
  ASSERT_TRUE(signals.h2d_copies_per_step && signals.h2d_bytes_per_step);
  EXPECT_DOUBLE_EQ(*signals.h2d_copies_per_step, 2);
  EXPECT_DOUBLE_EQ(*signals.h2d_bytes_per_step, 77'002'048);
}

}  // namespace
}  // namespace unstarve::diagnose
