#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/jpeg/transcode/coefficient_encoder.h"

namespace unstarve::feed {

/// Makes a JPEG file of a whole payload, in `jpeg`, which is replaced. It decodes to the same
/// pixels as the file that the payload was made from and has its APPn and COM markers, but is
/// sequential with Huffman tables of its own. kCorruptData when the payload is broken anywhere, or
/// has more than `max_pixels`: libjpeg keeps all coefficients of the image that the head names.
Status restore_jpeg(std::span<const std::byte> payload, std::vector<std::byte>& jpeg,
                    std::int64_t max_pixels = EncodeLimits().max_pixels);

}  // namespace unstarve::feed
