#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"

namespace unstarve::feed {

/// Makes a baseline JPEG file, 4:2:0, of RGB rows without gaps, in `jpeg`, which is replaced.
/// `quality` is libjpeg's, 1 to 100. kInvalidArgument where `pixels` are not of that size.
Status encode_jpeg(std::span<const std::uint8_t> pixels, ImageSize size, int quality,
                   std::vector<std::byte>& jpeg);

}  // namespace unstarve::feed
