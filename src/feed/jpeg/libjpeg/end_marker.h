#pragma once

#include <cstddef>
#include <span>

namespace unstarve::feed {

/// Whether the bytes of a JPEG file go on up to its end marker, whatever follows that: a file that
/// was cut anywhere behind its headers does not. What is no JPEG is for a decoder to refuse, and
/// passes. Of nearly all files it looks at the last two bytes only; else it goes through them once.
bool reaches_end_marker(std::span<const std::byte> bytes);

}  // namespace unstarve::feed
