#include "emulated/process/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unstarve::emulated {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SettingsTest, AllGpusAreVisibleWithoutTheVariable) {
  EXPECT_THAT(visible_gpus(3, nullptr), ElementsAre(0, 1, 2));
}

TEST(SettingsTest, TheVariableChoosesAndOrders) {
  EXPECT_THAT(visible_gpus(4, "2,0"), ElementsAre(2, 0));
  EXPECT_THAT(visible_gpus(4, " 3 , 1"), ElementsAre(3, 1));
}

TEST(SettingsTest, WhatFollowsAnUnknownGpuIsHidden) {
  EXPECT_THAT(visible_gpus(4, "1,7,0"), ElementsAre(1));
  EXPECT_THAT(visible_gpus(4, "-1"), IsEmpty());
  EXPECT_THAT(visible_gpus(4, ""), IsEmpty());
  EXPECT_THAT(visible_gpus(4, "NoDevFiles"), IsEmpty());
}

TEST(SettingsTest, NamingOneTwiceHidesAll) { EXPECT_THAT(visible_gpus(4, "1,1"), IsEmpty()); }

TEST(SettingsTest, GpusAreNamedByTheBeginningsOfTheirUuids) {
  EXPECT_EQ(uuid_text(1), "GPU-756e7374-6172-7665-2d65-6d7500000001");
  EXPECT_THAT(visible_gpus(4, uuid_text(2).c_str()), ElementsAre(2));
  EXPECT_THAT(visible_gpus(1, "GPU-756e"), ElementsAre(0));
  EXPECT_THAT(visible_gpus(4, "GPU-756e"), IsEmpty());  // more than one begins so
}

}  // namespace
}  // namespace unstarve::emulated
