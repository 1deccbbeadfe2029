#include <cstring>

#include "kernels/jpeg/upsample.h"

namespace unstarve::kernels {
namespace {

std::uint8_t to_byte(int value) { return static_cast<std::uint8_t>(value); }

}  // namespace

void upsample_h2v1_plain(const std::uint8_t* row, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const int nearer = row[i] * 3;
    out[2 * i] = to_byte((nearer + row[i - 1] + 1) >> 2);
    out[2 * i + 1] = to_byte((nearer + row[i + 1] + 2) >> 2);
  }
}

void upsample_h2v2_plain(const RowPair& rows, int count, std::uint8_t* out) {
  const auto column = [&](int i) { return rows.nearer[i] * 3 + rows.farther[i]; };
  for (int i = 0; i < count; ++i) {
    const int nearer = column(i) * 3;
    out[2 * i] = to_byte((nearer + column(i - 1) + 8) >> 4);
    out[2 * i + 1] = to_byte((nearer + column(i + 1) + 7) >> 4);
  }
}

void upsample_h1v2_plain(const RowPair& rows, RowHalf half, int count, std::uint8_t* out) {
  const int bias = half == RowHalf::kUpper ? 1 : 2;
  for (int i = 0; i < count; ++i) {
    out[i] = to_byte((rows.nearer[i] * 3 + rows.farther[i] + bias) >> 2);
  }
}

void replicate(const std::uint8_t* row, int count, int times, std::uint8_t* out) {
  for (int i = 0; i < count; ++i)
    std::memset(out + i * times, row[i], static_cast<std::size_t>(times));
}

}  // namespace unstarve::kernels
