#include "feed/transform/surround.h"

#include <algorithm>
#include <cstring>

namespace unstarve::feed {
namespace {

constexpr std::ptrdiff_t kPixelBytes = 3;

/// Along one side: which of the `count` pixels from `first` on stands at `place`.
int source_of(Surround::Mode mode, int place, int first, int count) {
  const int last = first + count - 1;
  if (place >= first && place <= last) return place;
  const int edge = place < first ? first : last;
  int from = edge;
  if (mode == Surround::Mode::kReflect) from = 2 * edge - place;
  if (mode == Surround::Mode::kSymmetric) from = 2 * edge - place + (place < first ? -1 : 1);
  return std::clamp(from, first, last);
}

void fill_pixels(const Surround& surround, std::uint8_t* out, int count) {
  for (int i = 0; i < count; ++i, out += kPixelBytes) {
    std::memcpy(out, surround.colour.data(), kPixelBytes);
  }
}

/// The pixels of one row on both sides of those inside.
void surround_row(const Surround& surround, const Box& inner, std::uint8_t* row, int width) {
  const int right = inner.x + inner.width;
  if (surround.mode == Surround::Mode::kConstant) {
    fill_pixels(surround, row, inner.x);
    fill_pixels(surround, row + kPixelBytes * right, width - right);
    return;
  }
  const auto copy = [&](int place) {
    const int from = source_of(surround.mode, place, inner.x, inner.width);
    std::memcpy(row + kPixelBytes * place, row + kPixelBytes * from, kPixelBytes);
  };
  for (int place = 0; place < inner.x; ++place) copy(place);
  for (int place = right; place < width; ++place) copy(place);
}

}  // namespace

void surround_pixels(const Surround& surround, const Box& inner, const PixelRows& rows) {
  const auto [width, height] = rows.size;
  if (inner.width == width && inner.height == height) return;
  const auto row_at = [&rows](int y) { return rows.first + rows.stride * y; };
  for (int y = inner.y; y < inner.y + inner.height; ++y) {
    surround_row(surround, inner, row_at(y), width);
  }
  for (int y = 0; y < height; ++y) {
    if (y >= inner.y && y < inner.y + inner.height) continue;
    if (surround.mode == Surround::Mode::kConstant) {
      fill_pixels(surround, row_at(y), width);
    } else {
      std::memcpy(row_at(y), row_at(source_of(surround.mode, y, inner.y, inner.height)),
                  static_cast<std::size_t>(kPixelBytes * width));
    }
  }
}

}  // namespace unstarve::feed
