#include "kernels/png/unfilter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

using Row = std::vector<std::uint8_t>;

class Unfilter : public test::EveryTarget {};

TEST_P(Unfilter, IsWhatThePlainOneDoes) {
  std::mt19937 random(7);
  for (const std::size_t step : {1U, 2U, 3U, 4U, 6U, 8U}) {
    for (const std::size_t pixels : {1U, 2U, 7U, 33U, 150U}) {
      for (int filter = 0; filter <= 4; ++filter) {
        Row row(pixels * step + kUnfilterPadding);
        Row above(row.size());
        for (auto& value : row) value = static_cast<std::uint8_t>(random());
        for (auto& value : above) value = static_cast<std::uint8_t>(random());
        Row expected = row;
        unfilter_plain(RowFilter(filter), expected.data(), above.data(), pixels * step, step);
        unfilter(RowFilter(filter), row.data(), above.data(), pixels * step, step);
        ASSERT_EQ(row, expected) << step << " bytes a pixel, filter " << filter;
      }
    }
  }
}

TEST(UnfilterPlain, WhereTwoAreAsNearPaethDoesNotTakeTheCorner) {
  const Row lighter = {10, 12};
  Row row = {252, 0};  // 6; of 6, 12 and 10 the first and the last are 2 from 6 + 12 - 10
  unfilter_plain(RowFilter::kPaeth, row.data(), lighter.data(), 2, 1);
  EXPECT_EQ(row, (Row{6, 6}));
  const Row darker = {10, 6};
  row = {2, 0};  // 12; of 12, 6 and 10 the last two are 2 from 12 + 6 - 10
  unfilter_plain(RowFilter::kPaeth, row.data(), darker.data(), 2, 1);
  EXPECT_EQ(row, (Row{12, 6}));
}

INSTANTIATE_TEST_SUITE_P(Targets, Unfilter, testing::ValuesIn(test::every_target()),
                         test::target_name);

}  // namespace
}  // namespace unstarve::kernels
