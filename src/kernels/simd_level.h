#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace unstarve::kernels {

/// Lets the kernels of this process use no instructions above `level`: "avx512", "avx2", "sse4",
/// or "portable" (128-bit vectors as every CPU of this kind has them). For measuring what a lesser
/// CPU would do; call it before the first kernel runs. It can be lowered further, not raised.
/// kInvalidArgument for another word, kNotSupported where the CPU lacks the level.
Status limit_simd(std::string_view level);

/// The best level that kernels use now, one of the words above.
std::string simd_level();

}  // namespace unstarve::kernels
