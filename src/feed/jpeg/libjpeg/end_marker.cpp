#include "feed/jpeg/libjpeg/end_marker.h"

#include <cstdint>
#include <cstring>

namespace unstarve::feed {
namespace {

// Second bytes of markers, T.81 table B.1.
constexpr int kTem = 0x01;
constexpr int kRst0 = 0xD0;
constexpr int kStartOfImage = 0xD8;
constexpr int kEoi = 0xD9;

/// Markers without a length, and what stands for a byte 0xFF of entropy-coded data.
bool stands_alone(int code) {
  return code == 0 || code == kTem || (code >= kRst0 && code <= kStartOfImage);
}

/// Goes from marker to marker as libjpeg does: over segments by their lengths, so that a
/// thumbnail's end is not taken for the image's, and over everything else byte by byte.
bool find_end_marker(const std::uint8_t* at, const std::uint8_t* end) {
  for (;;) {
    const auto left = static_cast<std::size_t>(end - at);
    at = static_cast<const std::uint8_t*>(std::memchr(at, 0xFF, left));
    if (at == nullptr) return false;
    while (at != end && *at == 0xFF) ++at;  // markers may be preceded by any number
    if (at == end) return false;
    const int code = *at++;
    if (code == kEoi) return true;
    if (stands_alone(code)) continue;
    if (end - at < 2) return false;
    const std::ptrdiff_t length = at[0] << 8 | at[1];
    if (length < 2 || length > end - at) return false;
    at += length;
  }
}

}  // namespace

bool reaches_end_marker(std::span<const std::byte> bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const std::uint8_t* end = begin + bytes.size();
  if (bytes.size() < 4 || begin[0] != 0xFF || begin[1] != kStartOfImage) return true;
  // Within entropy-coded data these two are the end marker. Where they are the end of a segment, a
  // decoder misses the rest of the headers or of the scans.
  if (end[-2] == 0xFF && end[-1] == kEoi) return true;
  return find_end_marker(begin + 2, end);
}

}  // namespace unstarve::feed
