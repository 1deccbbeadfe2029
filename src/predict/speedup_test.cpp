#include "predict/speedup.h"

#include <gtest/gtest.h>

namespace unstarve::predict {
namespace {

TEST(Speedup, IsWordedWithItsInterval) {
  const Speedup speedup = {3.849, 3.61, 4.1};
  EXPECT_EQ(speedup_text(speedup), "3.85x [3.61..4.10]");
  EXPECT_EQ(interval_text(speedup), "3.61..4.10");
  EXPECT_EQ(speedup_words(speedup), "3.85x faster, 3.61 to 4.10");
}

}  // namespace
}  // namespace unstarve::predict
