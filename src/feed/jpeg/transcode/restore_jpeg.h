#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

/// Makes a JPEG file of a whole payload, in `jpeg`, which is replaced. It decodes to the same
/// pixels as the file that the payload was made from and has its APPn and COM markers, but is
/// sequential with Huffman tables of its own. kCorruptData when the payload is broken anywhere.
Status restore_jpeg(std::span<const std::byte> payload, std::vector<std::byte>& jpeg);

}  // namespace unstarve::feed
