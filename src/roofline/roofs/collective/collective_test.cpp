#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.h"
#include "roofline/roofs/collective/collective_roofs.h"
#include "roofline/roofs/collective/torch_collectives.h"
#include "roofline/roofs/interpreter/testing/fake_interpreter.h"

namespace unstarve::roofline {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kShortNs = 100'000'000;

/// A program in the interpreter's place: RANK is its number, the rest is `body`.
std::string interpreter(const TestFolder& folder, const std::string& body) {
  return testing::fake_interpreter(folder, "RANK=$3\n" + body);
}

constexpr const char* kImports = R"(
echo '{"imported": true, "torch": "2.15.0", "nccl": "2.27.5"}'
)";
constexpr const char* kFirstMeasures = R"(
if [ "$RANK" = 0 ]; then
  echo '{"doing": "all_reduce.latency"}'
  echo '{"kind": "all_reduce", "size": "latency", "bytes": 8, "in_row": 200,
         "seconds": [3e-5, 2e-5, 4e-5]}' | tr -d '\n'
  echo
  echo '{"doing": "all_reduce.16_mib"}'
  echo '{"kind": "all_reduce", "size": "16_mib", "bytes": 16777216, "in_row": 9, "seconds": [1e-3]}'
  echo '{"doing": "all_gather.1_mib"}'
fi
)";
constexpr const char* kWaits = "exec sleep 1000\n";

class CollectiveTest : public ::testing::Test {
 protected:
  Result<TorchCollectives> run(const std::string& body, std::int64_t import_limit_ns) {
    TorchCollectivesOptions options;
    options.python = interpreter(folder_, body);
    options.silence_limit_ns = kSecondNs;
    options.import_limit_ns = import_limit_ns;
    return run_torch_collectives(options, session_);
  }
  Result<TorchCollectives> run(const std::string& body) { return run(body, 60 * kSecondNs); }
  std::string error_of(const std::string& body, std::int64_t import_limit_ns = 60 * kSecondNs) {
    const auto found = run(body, import_limit_ns);
    return found ? std::string("none") : found.error().message;
  }
  const TestFolder folder_;
  SteadyClock clock_;
  Session session_{clock_, {}};
};

TEST(BusBandwidth, IsAsNcclTestsDefineIt) {
  constexpr std::int64_t kGigabyte = 1'000'000'000;
  EXPECT_DOUBLE_EQ(bus_bytes_per_s("all_reduce", kGigabyte, 2, 0.01), 100e9);
  EXPECT_DOUBLE_EQ(bus_bytes_per_s("all_reduce", kGigabyte, 8, 0.01), 175e9);
  EXPECT_DOUBLE_EQ(bus_bytes_per_s("all_gather", kGigabyte, 4, 0.01), 75e9);
  EXPECT_DOUBLE_EQ(bus_bytes_per_s("reduce_scatter", kGigabyte, 4, 0.01), 75e9);
  EXPECT_DOUBLE_EQ(bus_bytes_per_s("send_recv", kGigabyte, 4, 0.01), 100e9);
  EXPECT_EQ(bus_bytes_per_s("gossip", kGigabyte, 4, 0.01), 0);
}

TEST_F(CollectiveTest, WhatTheFirstRankMeasuresIsARoofEach) {
  const std::string done = "[ $RANK = 0 ] && echo '{\"done\": true}'\n";
  const std::string python =
      interpreter(folder_, std::string(kImports) + kFirstMeasures + done + kWaits);
  measure_collectives(2, python, 1'000'000, session_);
  EXPECT_TRUE(session_.result().absent.empty());
  const auto& roofs = session_.result().roofs;
  ASSERT_EQ(roofs.size(), 2U);
  EXPECT_EQ(roofs[0].name, "gpu.nccl.all_reduce.latency");
  EXPECT_EQ(roofs[0].unit, "s");
  EXPECT_DOUBLE_EQ(roofs[0].value, 2e-5);
  EXPECT_EQ(roofs[1].name, "gpu.nccl.all_reduce.16_mib");
  EXPECT_DOUBLE_EQ(roofs[1].value, 16777216 / 1e-3);  // of two GPUs each byte goes over once
  const std::pair<std::string, Condition> nccl = {"nccl", std::string("2.27.5")};
  EXPECT_THAT(roofs[1].conditions, ::testing::Contains(nccl));
}

TEST_F(CollectiveTest, AHangIsEndedAndSaidWithWhatItWasAt) {
  const auto found = run(std::string(kImports) + kFirstMeasures + kWaits);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->times.size(), 2U);
  EXPECT_THAT(found->cut_short, HasSubstr("NCCL hangs"));
  EXPECT_EQ(found->cut_at, "all_gather.1_mib");
}

TEST_F(CollectiveTest, ARankThatDiesIsSaid) {
  const auto found =
      run(std::string(kImports) + kFirstMeasures + "[ $RANK = 1 ] && kill -SEGV $$\n" + kWaits);
  // It may die before the first one has imported torch; then nothing has begun.
  EXPECT_EQ(found ? found->cut_short : found.error().message, "rank 1 was ended by signal 11");
}

TEST_F(CollectiveTest, WhatIsMissingBeforeItBeginsIsAnError) {
  EXPECT_THAT(error_of("echo '{\"error\": \"torch 2 sees 1 of 2 GPUs\"}'\n"),
              HasSubstr("sees 1 of 2 GPUs"));
  EXPECT_THAT(error_of("echo hello\n"), HasSubstr("nobody asked for"));
  EXPECT_THAT(error_of("exit 7\n"), HasSubstr("ended with status 7"));
  EXPECT_THAT(error_of(kWaits, kShortNs), HasSubstr("not imported within"));
  TorchCollectivesOptions nowhere;
  nowhere.python = "/nowhere/python";
  EXPECT_THAT(run_torch_collectives(nowhere, session_).error().message,
              HasSubstr("/nowhere/python"));
}

TEST_F(CollectiveTest, WithoutAnInterpreterTheReasonIsThere) {
  measure_collectives(2, "", 1'000'000, session_);
  ASSERT_EQ(session_.result().absent.size(), 1U);
  EXPECT_EQ(session_.result().absent[0].name, "gpu.nccl");
  EXPECT_THAT(session_.result().absent[0].reason, HasSubstr("--python"));
}

TEST_F(CollectiveTest, EndsWhereSomebodyAsksToStop) {
  Session stopped(clock_, {.stopped = [] { return true; }, .doing = {}});
  TorchCollectivesOptions options;
  options.python = interpreter(folder_, kWaits);
  const auto found = run_torch_collectives(options, stopped);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->times.empty());
  EXPECT_EQ(found->cut_short, "");
}

}  // namespace
}  // namespace unstarve::roofline
