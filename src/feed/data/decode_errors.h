#pragma once

#include <cstdint>

#include "base/result.h"

namespace unstarve::feed {

/// What decoders of every format say of a file that ends too soon.
inline tl::unexpected<Error> cut_short() {
  return fail(ErrorCode::kCorruptData, "the file ends before the image does: it was cut short");
}

/// kNotSupported where an image has more pixels than are allowed. Sides are above zero.
inline Status check_pixels(std::int64_t width, std::int64_t height, std::int64_t max_pixels) {
  if (width <= max_pixels / height) return {};
  return fail(ErrorCode::kNotSupported, "{} x {} pixels are more than the {} that are allowed",
              width, height, max_pixels);
}

}  // namespace unstarve::feed
