#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/roofs/gpu/gpu_roofs.h"
#include "roofline/roofs/gpu/gpu_state.h"

namespace unstarve::roofline {
namespace {

using ::testing::HasSubstr;

TEST(Gpu, WithoutADriverTheReasonIsSaid) {
  SteadyClock clock;
  Session session(clock, {});
  measure_gpus(Machine(), {.driver = "libno-such-driver.so.1"}, "", 1'000'000, session);
  EXPECT_TRUE(session.result().roofs.empty());
  ASSERT_EQ(session.result().absent.size(), 1U);
  EXPECT_EQ(session.result().absent[0].name, "gpu");
  EXPECT_THAT(session.result().absent[0].reason, HasSubstr("libno-such-driver.so.1"));
}

TEST(Gpu, ALibraryThatIsNoDriverIsSaidSo) {
  SteadyClock clock;
  Session session(clock, {});
  measure_gpus(Machine(), {.driver = "libc.so.6"}, "", 1'000'000, session);
  ASSERT_EQ(session.result().absent.size(), 1U);
  EXPECT_THAT(session.result().absent[0].reason, HasSubstr("lacks cuInit"));
}

TEST(Gpu, AnEmulatedOneIsKnownByItsName) {
  EXPECT_TRUE(is_emulated({"Emulated NVIDIA A100-SXM4-80GB", ""}));
  EXPECT_FALSE(is_emulated({"NVIDIA A100-SXM4-80GB", ""}));
}

}  // namespace
}  // namespace unstarve::roofline
