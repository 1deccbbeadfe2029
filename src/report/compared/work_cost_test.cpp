#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/compared/comparison_words.h"

namespace unstarve::report {
namespace {

compare::WorkCost half_of_it() {
  compare::WorkCost cost;
  cost.a = {0.02, 0.04, WhyAbsent::kNotSupported, WhyAbsent::kNotSupported};
  cost.b = {0.01, 0.02, WhyAbsent::kNotSupported, WhyAbsent::kNotSupported};
  cost.month = {365.0, 730.0, WhyAbsent::kNotSupported, WhyAbsent::kNotSupported};
  cost.price_a = cost::Rate{2, "--price"};
  return cost;
}

TEST(WorkCostWords, LeaveOutWhatNobodyMeasured) {
  const std::vector<WorkCostRow> rows = work_cost_rows(half_of_it());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "GPU time");
  EXPECT_EQ(rows[0].a, "1 min 12 s");
  EXPECT_EQ(rows[1].b, "$0.02");
  EXPECT_EQ(rows[1].change, "-50.0 %");
}

TEST(WorkCostWords, SayMoreAndLess) {
  compare::WorkCost cost = half_of_it();
  EXPECT_EQ(work_cost_sentence(cost),
            "For what A does in a month B takes 365 GPU-hours less, $730 less ($2.00 a GPU-hour of "
            "A: --price).");
  cost.month = {-10.0, WhyAbsent::kNotObserved};
  EXPECT_EQ(work_cost_sentence(cost), "For what A does in a month B takes 10.0 GPU-hours more.");
  cost.month.gpu_hours = WhyAbsent::kNotObserved;
  EXPECT_EQ(work_cost_sentence(cost), "");
}

}  // namespace
}  // namespace unstarve::report
