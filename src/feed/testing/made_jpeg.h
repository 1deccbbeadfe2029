#pragma once

#include <cstddef>
#include <vector>

namespace unstarve::feed::test {

enum class JpegKind { k420, k422, k444, kGrey, kProgressive, kCmyk };

/// A JPEG with enough detail that a wrong pixel shows; the same bytes for the same arguments.
std::vector<std::byte> make_jpeg(JpegKind kind, int width, int height, unsigned seed = 1);

/// Overwrites the size in the frame header.
void patch_size(std::vector<std::byte>& jpeg, int width, int height);

/// Takes out all segments of one kind before the first scan: 0xDB quantisation, 0xC4 Huffman
/// tables.
void remove_segments(std::vector<std::byte>& jpeg, int marker);

}  // namespace unstarve::feed::test
