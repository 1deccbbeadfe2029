#include "kernels/jpeg/segment.h"

namespace unstarve::kernels {

bool unpack_segment(std::span<const std::byte> bytes, std::span<const SegmentPlane> planes) {
  return unpack_segment_plain(bytes, planes);
}

}  // namespace unstarve::kernels
