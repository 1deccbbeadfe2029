#pragma once

// So that the best targets are among those that are tried, wherever a kernel has them.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <vector>

namespace unstarve::kernels::test {

/// Runs the body once for each instruction set that this CPU has and the build holds: the one, and
/// those below it for kernels that are not built for it.
class EveryTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    // Highway numbers the better target lower.
    force(hwy::SupportedTargets() & ~(GetParam() - 1));
  }
  void TearDown() override { force(0); }

 private:
  static void force(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

inline std::vector<std::int64_t> every_target() {
  std::vector<std::int64_t> result;
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    if (std::int64_t target = rest & -rest; (target & HWY_TARGETS) != 0) result.push_back(target);
  }
  return result;
}

inline std::string target_name(const testing::TestParamInfo<std::int64_t>& target) {
  return hwy::TargetName(target.param);
}

}  // namespace unstarve::kernels::test
