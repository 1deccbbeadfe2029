#include "feed/pipeline/loading/quarantine.h"

#include <gtest/gtest.h>

namespace unstarve::feed {
namespace {

TEST(Quarantine, ASampleThatSeveralThreadsFoundBadCountsOnce) {
  Quarantine quarantine;
  quarantine.add_bad(2, 0, "a.jpg: damaged");
  quarantine.add_bad(2, 0, "a.jpg: damaged");
  EXPECT_TRUE(quarantine.holds(2));
  EXPECT_EQ(quarantine.failures(), 1U);
  EXPECT_EQ(quarantine.list().size(), 1U);
}

TEST(Quarantine, AFailureThatMayPassCountsEachTime) {
  Quarantine quarantine;
  quarantine.add_failure(2, 0, "a.jpg: cannot be read");
  quarantine.add_failure(2, 1, "a.jpg: cannot be read");
  EXPECT_FALSE(quarantine.holds(2));
  EXPECT_EQ(quarantine.failures(), 2U);
}

TEST(Quarantine, ABadSampleOfAStateCountsNoMore) {
  Quarantine quarantine;
  quarantine.restore({3});
  quarantine.add_bad(3, 1, "b.jpg: damaged");
  EXPECT_EQ(quarantine.failures(), 0U);
}

}  // namespace
}  // namespace unstarve::feed
