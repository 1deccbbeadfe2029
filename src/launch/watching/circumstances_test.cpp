#include "launch/watching/circumstances.h"

#include <gtest/gtest.h>

namespace unstarve::launch {
namespace {

TEST(Circumstances, VariablesThatTellAreKeptWithoutSecrets) {
  const auto kept =
      telling_variables({"OMP_NUM_THREADS=4", "HOME=/root", "CUDA_VISIBLE_DEVICES=2",
                         "TORCH_HUB_TOKEN=abc", "NCCL_X=https://u:p@host/", "odd", "LD_PRELOAD="});
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].first, "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(kept[0].second, "2");
  EXPECT_EQ(kept[1].first, "LD_PRELOAD");
  EXPECT_EQ(kept[2].second, "4");
}

}  // namespace
}  // namespace unstarve::launch
