#pragma once

#include <cstddef>
#include <span>

namespace unstarve::feed {

// Whether PIL opens a file, which begins as its format does, in its mode RGB. A script that does
// not convert images gets greys, palettes and transparency as they are. False where nobody can
// tell.

bool jpeg_is_rgb(std::span<const std::byte> file);
bool png_is_rgb(std::span<const std::byte> file);
/// Of files with extensions: false.
bool webp_is_rgb(std::span<const std::byte> file);

}  // namespace unstarve::feed
