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

TEST(Speedup, ThatIsAnEndOfItsRangeIsWordedOnce) {
  EXPECT_EQ(speedup_words({58.49, 31.4, 58.5}), "31.4x to 58.5x faster");
  EXPECT_EQ(speedup_words({1, 1, 1.5}), "1.00x to 1.50x faster");
  EXPECT_EQ(speedup_words({2, 2, 2}), "2.00x faster");
}

}  // namespace
}  // namespace unstarve::predict
