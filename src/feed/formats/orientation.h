#pragma once

#include <cstddef>
#include <span>

namespace unstarve::feed {

// Cameras store an image as the sensor had it, and say beside it how it is to be turned. Decoders
// here do not turn; who has to know asks these. Each is true where the file says another
// orientation than upright, and where nobody can tell.

/// Of an EXIF block, which is a TIFF file without an image.
bool exif_may_turn(std::span<const std::byte> tiff);

// Of files that begin as their format does: by EXIF, or by what is written as XMP.

bool jpeg_may_turn(std::span<const std::byte> file);
bool png_may_turn(std::span<const std::byte> file);
bool webp_may_turn(std::span<const std::byte> file);

}  // namespace unstarve::feed
