#include "emulated/cusolver/solver.h"

#include <gtest/gtest.h>

namespace unstarve::emulated::cusolver {
namespace {

constexpr double kCubed = 100.0 * 100 * 100;

TEST(SolverCostTest, TheTextbooksCountsOfSquareMatrices) {
  EXPECT_NEAR(lu(kTypeOfD, 100, 100).flops, kCubed * 2 / 3, 1);
  EXPECT_NEAR(qr(kTypeOfD, 100, 100).flops, kCubed * 4 / 3, 1);
  EXPECT_NEAR(cholesky(kTypeOfD, 100).flops, kCubed / 3, 1);
}

TEST(SolverCostTest, ATallQrIsTwoMNSquared) {
  EXPECT_NEAR(qr(kTypeOfD, 1e6, 10).flops, 2e6 * 100, 2e6);
}

TEST(SolverCostTest, VectorsCostMoreThanValues) {
  EXPECT_GT(symmetric_eigen(kTypeOfS, 64, Vectors::kAlso).flops,
            symmetric_eigen(kTypeOfS, 64, Vectors::kNone).flops);
  EXPECT_GT(singular_values(kTypeOfS, 64, 32, true).flops,
            singular_values(kTypeOfS, 64, 32, false).flops);
}

TEST(SolverCostTest, NegativeSizesCostNothing) {
  EXPECT_EQ(lu(kTypeOfS, -1, -1).flops, 0);
  EXPECT_EQ(cholesky(kTypeOfS, -5).flops, 0);
}

TEST(SolverWorkspaceTest, GrowsWithTheMatrixAndStaysANumber) {
  EXPECT_GT(workspace_numbers(100, 100), workspace_numbers(10, 10));
  EXPECT_GT(workspace_numbers(1e9, 1e9), 0);
  int numbers = 0;
  EXPECT_EQ(give_workspace(nullptr, 1, 1), Status::kInvalidValue);
  EXPECT_EQ(give_workspace(&numbers, 1, 1), Status::kSuccess);
}

TEST(SolverTest, WithoutAHandleNothingRuns) {
  EXPECT_EQ(submit_cost(nullptr, "emulated nothing", lu(kTypeOfS, 4, 4)), Status::kNotInitialized);
}

}  // namespace
}  // namespace unstarve::emulated::cusolver
