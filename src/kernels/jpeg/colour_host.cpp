#include <algorithm>

#include "kernels/jpeg/colour.h"

namespace unstarve::kernels {
namespace {

// By 2^16, rounded, as in jdcolor.c.
constexpr int kRedOfCr = 91881;     // 1.40200
constexpr int kGreenOfCb = -22554;  // -0.34414
constexpr int kGreenOfCr = -46802;  // -0.71414
constexpr int kBlueOfCb = 116130;   // 1.77200
constexpr int kHalf = 1 << 15;

std::uint8_t to_byte(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

}  // namespace

void ycc_to_rgb_plain(const PlaneRows& rows, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const int y = rows.first[i];
    const int cb = rows.second[i] - 128;
    const int cr = rows.third[i] - 128;
    out[3 * i] = to_byte(y + ((kRedOfCr * cr + kHalf) >> 16));
    out[3 * i + 1] = to_byte(y + ((kGreenOfCb * cb + kGreenOfCr * cr + kHalf) >> 16));
    out[3 * i + 2] = to_byte(y + ((kBlueOfCb * cb + kHalf) >> 16));
  }
}

void planes_to_rgb_plain(const PlaneRows& rows, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    out[3 * i] = rows.first[i];
    out[3 * i + 1] = rows.second[i];
    out[3 * i + 2] = rows.third[i];
  }
}

}  // namespace unstarve::kernels
