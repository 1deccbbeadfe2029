#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>

#include "base/clock.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "base/units.h"

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

TEST(WholeNumber, OfWhatDoesNotFitIsTheEdge) {
  EXPECT_EQ(whole_number<std::int64_t>(2.5), 3);
  EXPECT_EQ(whole_number<std::int64_t>(-2.5), -3);
  EXPECT_EQ(whole_number<std::int64_t>(0x1p63), INT64_MAX);
  EXPECT_EQ(whole_number<std::int64_t>(-1e300), INT64_MIN);
  EXPECT_EQ(whole_number<std::int64_t>(0x1p63 - 1024), INT64_MAX - 1023);
  EXPECT_EQ(whole_number<std::int32_t>(2147483647.5), INT32_MAX);
  EXPECT_EQ(whole_number<std::uint8_t>(-0.6), 0);
  EXPECT_EQ(whole_number<std::uint8_t>(255.7), 255);
  EXPECT_EQ(whole_number<std::int64_t>(std::numeric_limits<double>::infinity()), INT64_MAX);
  EXPECT_EQ(whole_number<std::int64_t>(std::numeric_limits<double>::quiet_NaN()), 0);
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
