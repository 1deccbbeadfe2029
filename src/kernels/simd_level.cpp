#include "kernels/simd_level.h"

#include <array>
#include <cstdint>

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace unstarve::kernels {
namespace {

struct Level {
  std::string_view name;
  std::int64_t targets = 0;  // of Highway: the better, the lower the bit
};

#if HWY_ARCH_X86
constexpr std::array<Level, 4> kLevels = {{
    {"avx512", HWY_AVX3_DL | HWY_AVX3},
    {"avx2", HWY_AVX2},
    {"sse4", HWY_SSE4},
    {"portable", 0},
}};
#else
constexpr std::array<Level, 1> kLevels = {{{"portable", 0}}};
#endif

}  // namespace

Status limit_simd(std::string_view level) {
  std::int64_t above = 0;
  for (const Level& candidate : kLevels) {
    if (candidate.name != level) {
      above |= candidate.targets;
      continue;
    }
    if (candidate.targets != 0 && (hwy::SupportedTargets() & candidate.targets) == 0) {
      return fail(ErrorCode::kNotSupported, "this CPU has no {}: its best level is {}", level,
                  simd_level());
    }
    hwy::DisableTargets(above);
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "unknown instruction level '{}': take avx512, avx2, sse4 or portable", level);
}

std::string simd_level() {
  const std::int64_t targets = hwy::SupportedTargets();
  for (const Level& level : kLevels) {
    if ((targets & level.targets) != 0) return std::string(level.name);
  }
  return "portable";
}

}  // namespace unstarve::kernels
