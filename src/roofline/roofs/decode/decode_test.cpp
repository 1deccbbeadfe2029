#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/test_folder.h"
#include "roofline/roofs/decode/decode_rate.h"

namespace unstarve::roofline {
namespace {

using ::testing::HasSubstr;

TEST(Decode, ARoofForEachDecoderAndNumberOfThreads) {
  SteadyClock clock;
  Session session(clock, {});
  Machine machine;
  machine.threads = 2;
  measure_decode(machine, UNSTARVE_SOURCE_DIR "/tests/data/photos", 1'000'000'000, session);
  ASSERT_EQ(session.result().roofs.size(), 6U);
  EXPECT_EQ(session.result().roofs[0].name, "decode.unstarve.1_threads");
  EXPECT_EQ(session.result().roofs[3].name, "decode.libjpeg.2_threads");
  EXPECT_EQ(session.result().roofs[4].name, "decode.shard.1_threads");
  EXPECT_EQ(session.result().roofs[0].unit, "images/s");
}

TEST(Decode, WithoutPhotographsTheReasonIsSaid) {
  const TestFolder empty;
  SteadyClock clock;
  for (const std::string& folder : {std::string(), empty.path(), std::string("/nowhere")}) {
    Session session(clock, {});
    measure_decode(Machine(), folder, 1'000'000, session);
    ASSERT_EQ(session.result().absent.size(), 1U);
    EXPECT_EQ(session.result().absent[0].name, "decode");
    EXPECT_THAT(session.result().absent[0].reason, HasSubstr(folder));
  }
}

}  // namespace
}  // namespace unstarve::roofline
