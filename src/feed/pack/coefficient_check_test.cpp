#include "feed/pack/coefficient_check.h"

#include <gtest/gtest.h>

#include "feed/jpeg/testing/sampled_jpeg.h"
#include "feed/testing/made_jpeg.h"

namespace unstarve::feed {
namespace {

TEST(CoefficientCheck, AcceptsWhatEveryKindOfFileIsPackedInto) {
  CoefficientCheck check = *CoefficientCheck::create();
  for (const test::Sampling& sampling : test::kSamplings) {
    for (const bool progressive : {false, true}) {
      test::JpegRecipe recipe;
      recipe.sampling = sampling;
      recipe.progressive = progressive;
      SCOPED_TRACE(test::describe(recipe));
      const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
      const std::vector<std::byte> payload = test::encode(jpeg);
      const Status same = check.compare(jpeg, payload);
      EXPECT_TRUE(same) << same.error().message;
      recipe.quality = 80;
      EXPECT_FALSE(check.compare(test::make_sampled_jpeg(recipe), payload));
    }
  }
}

TEST(CoefficientCheck, NeverUsesTheTablesOfTheFileBefore) {
  CoefficientCheck check = *CoefficientCheck::create();
  std::vector<std::byte> jpeg = test::make_jpeg(test::JpegKind::k420, 50, 40);
  const std::vector<std::byte> payload = test::encode(jpeg);
  ASSERT_TRUE(check.compare(jpeg, payload));
  test::remove_segments(jpeg, 0xDB);
  EXPECT_FALSE(check.compare(jpeg, payload));
}

}  // namespace
}  // namespace unstarve::feed
