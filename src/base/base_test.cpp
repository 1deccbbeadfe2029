#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/unique_handle.h"

namespace unstarve {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorCode::kInvalidArgument, "{} is odd", value);
  return value / 2;
}

Status check_half(int value) {
  const Result<int> result = half(value);
  if (!result) return forward_error(result);
  return {};
}

TEST(Result, CarriesValueOrError) {
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_EQ(half(3).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(half(3).error().message, "3 is odd");
  EXPECT_TRUE(check_half(2).has_value());
  EXPECT_EQ(check_half(5).error().message, "5 is odd");
}

TEST(Result, ErrnoChoosesTheCode) {
  EXPECT_EQ(fail_errno(ENOENT, "cannot open x").value().code, ErrorCode::kNotFound);
  EXPECT_EQ(fail_errno(EACCES, "cannot open x").value().code, ErrorCode::kNoPermission);
  EXPECT_EQ(fail_errno(EIO, "cannot read x").value().os_errno, EIO);
}

TEST(Reading, AbsentKeepsItsReason) {
  const Reading<double> absent = WhyAbsent::kNoPermission;
  EXPECT_FALSE(absent);
  EXPECT_EQ(to_string(absent.why_absent()), "no_permission");
  EXPECT_EQ(parse_why_absent("stale"), WhyAbsent::kStale);
  EXPECT_EQ(parse_why_absent("zero"), std::nullopt);
  EXPECT_EQ(Reading<double>(0.5).value(), 0.5);
}

TEST(BoundedQueue, DrainsInOrderAfterClose) {
  const SteadyClock clock;
  BoundedQueue<int> queue(3, clock);
  std::vector<int> seen;
  std::jthread consumer([&](const std::stop_token& stop) {
    while (auto item = queue.pop(stop)) seen.push_back(*item);
  });
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(queue.push(i, {}));
  queue.close();
  consumer.join();
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(seen, expected);
  EXPECT_LE(queue.counters().depth_max, 3U);
  EXPECT_FALSE(queue.push(1, {}));
}

TEST(BoundedQueue, StopEndsWaitsOnBothEnds) {
  const SteadyClock clock;
  BoundedQueue<int> empty(1, clock);
  BoundedQueue<int> full(1, clock);
  ASSERT_TRUE(full.push(1, {}));
  std::stop_source stop;
  std::jthread popper([&] { EXPECT_FALSE(empty.pop(stop.get_token()).has_value()); });
  std::jthread pusher([&] { EXPECT_FALSE(full.push(2, stop.get_token())); });
  stop.request_stop();
}

TEST(BoundedQueueStress, ManyProducersAndConsumersLoseNothing) {
  const SteadyClock clock;
  BoundedQueue<int> queue(8, clock);
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::jthread> consumers;
  for (int c = 0; c < 3; ++c) {
    consumers.emplace_back([&](const std::stop_token& stop) {
      while (auto item = queue.pop(stop)) sum += *item;
    });
  }
  {
    std::vector<std::jthread> producers;
    for (int p = 0; p < 3; ++p) {
      producers.emplace_back([&] {
        for (int i = 1; i <= 500; ++i) EXPECT_TRUE(queue.push(i, {}));
      });
    }
  }
  queue.close();
  for (std::jthread& consumer : consumers) consumer.join();
  EXPECT_EQ(sum.load(), 3 * 500 * 501 / 2);
}

TEST(UniqueHandle, ClosesOnceAndMoves) {
  FileDescriptor fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(fd);
  const int raw = fd.get();
  FileDescriptor moved = std::move(fd);
  EXPECT_EQ(moved.get(), raw);
  moved.reset();
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
}

TEST(ManualClock, SleepAdvancesIt) {
  ManualClock clock(100);
  clock.sleep_until_ns(250);
  EXPECT_EQ(clock.now_ns(), 250);
  clock.sleep_until_ns(200);
  EXPECT_EQ(clock.now_ns(), 250);
  EXPECT_TRUE(clock.sleep_until_ns(300, std::stop_token()));
  EXPECT_EQ(clock.now_ns(), 300);
}

TEST(SteadyClock, AStopEndsASleep) {
  SteadyClock clock;
  const std::int64_t begun_ns = clock.now_ns();
  std::stop_source stop;
  EXPECT_TRUE(clock.sleep_until_ns(begun_ns + 1'000'000, stop.get_token()));
  EXPECT_GE(clock.now_ns(), begun_ns + 1'000'000);
  std::jthread stopper([&stop] { stop.request_stop(); });
  constexpr std::int64_t kAYearNs = 31'536'000'000'000'000;
  EXPECT_FALSE(clock.sleep_until_ns(begun_ns + kAYearNs, stop.get_token()));
  EXPECT_FALSE(clock.sleep_until_ns(begun_ns + kAYearNs, stop.get_token()));
}

TEST(Error, IsCopiedWithoutAnExceptionAndMadeOfOne) {
  const Error error{ErrorCode::kNotFound, "a message that is too long to lie in a string", 2};
  const Error copy = error;
  EXPECT_EQ(copy.message, error.message);
  EXPECT_EQ(copy.os_errno, 2);
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
  const auto caught = [](const auto& exception) {
    try {
      throw exception;
    } catch (...) {
      return caught_error();
    }
  };
  EXPECT_EQ(caught(std::bad_alloc()).code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(caught(std::length_error("too long")).message, "too long");
  EXPECT_EQ(caught(1).message, "unknown failure");
}

}  // namespace
}  // namespace unstarve
