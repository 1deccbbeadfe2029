#include "emulated/duration/price_list.h"

#include <gtest/gtest.h>

namespace unstarve::emulated {
namespace {

Profile profile(const char* name) {
  const Result<Profile> found = find_profile(name);
  EXPECT_TRUE(found);
  return found ? *found : Profile{};
}

constexpr MatmulWork kProduct = {.m = 4096, .n = 4096, .k = 4096, .input = NumberType::kF16};

TEST(PriceListTest, EachKindTakesWhatItsOwnModelSays) {
  const auto a100 = DurationModel::create(profile("a100"));
  const auto t4 = DurationModel::create(profile("t4"));
  const PriceList list(profile("a100"), {profile("t4"), profile("a100")}, 1);
  ASSERT_EQ(list.kinds(), 2U);
  const PriceList::Prices prices = list.price(a100->estimate(kProduct), kProduct);
  EXPECT_FLOAT_EQ(prices[0], static_cast<float>(t4->estimate(kProduct).ns));
  EXPECT_FLOAT_EQ(prices[1], static_cast<float>(a100->estimate(kProduct).ns));
  EXPECT_GT(prices[0], 2 * prices[1]);
  EXPECT_EQ(prices[2], 0);
}

TEST(PriceListTest, ARecordedDurationGoesAlongInTheRatioOfTheRooflines) {
  const auto a100 = DurationModel::create(profile("a100"));
  const PriceList list(profile("a100"), {profile("t4"), profile("a100")}, 1);
  const std::int64_t modelled_ns = a100->estimate(kProduct).ns;
  const Estimate recorded = {.ns = 3 * modelled_ns, .source = DurationSource::kRecorded};
  const PriceList::Prices prices = list.price(recorded, kProduct);
  EXPECT_NEAR(prices[1], 3.0 * static_cast<double>(modelled_ns), 16);
  EXPECT_NEAR(prices[0] / list.price(a100->estimate(kProduct), kProduct)[0], 3, 1e-3);
}

TEST(PriceListTest, WithoutKindsNothingIsPriced) {
  const PriceList list(profile("a100"), {}, 1);
  EXPECT_EQ(list.price({.ns = 5}, kProduct)[0], 0);
  EXPECT_EQ(list.same_everywhere({.ns = 5})[0], 0);
}

TEST(PriceListTest, NoMoreKindsThanThereIsRoomFor) {
  const PriceList list(profile("a100"), std::vector<Profile>(20, profile("t4")), 1);
  EXPECT_EQ(list.kinds(), PriceList::kMostKinds);
}

}  // namespace
}  // namespace unstarve::emulated
