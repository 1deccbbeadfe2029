#include <cstdlib>

#include "kernels/png/unfilter.h"

namespace unstarve::kernels {

namespace {

/// The one of three neighbours that is nearest to left + above - corner.
int paeth(int left, int above, int corner) {
  const int to_left = std::abs(above - corner);
  const int to_above = std::abs(left - corner);
  const int to_corner = std::abs(left + above - 2 * corner);
  if (to_left <= to_above && to_left <= to_corner) return left;
  return to_above <= to_corner ? above : corner;
}

}  // namespace

void unfilter_plain(RowFilter filter, std::uint8_t* row, const std::uint8_t* above,
                    std::size_t bytes, std::size_t step) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const int left = i < step ? 0 : row[i - step];
    const int corner = i < step ? 0 : above[i - step];
    int told = 0;
    switch (filter) {
      case RowFilter::kNone: return;
      case RowFilter::kSub: told = left; break;
      case RowFilter::kUp: told = above[i]; break;
      case RowFilter::kAverage: told = (left + above[i]) / 2; break;
      case RowFilter::kPaeth: told = paeth(left, above[i], corner); break;
    }
    row[i] = static_cast<std::uint8_t>(row[i] + told);
  }
}

}  // namespace unstarve::kernels
