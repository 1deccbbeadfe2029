#include "kernels/pixels/affine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace unstarve::kernels {
namespace {

using Pixels = std::vector<std::uint8_t>;

struct Size {
  int width;
  int height;
};

Pixels noise(const Size& size, unsigned seed) {
  std::mt19937 random(seed);
  Pixels pixels(static_cast<std::size_t>(3 * size.width * size.height));
  for (auto& value : pixels) value = static_cast<std::uint8_t>(random());
  return pixels;
}

AffineMap turned(double degrees, const Size& size) {
  const double angle = degrees * std::acos(-1.0) / 180;
  AffineMap map{std::cos(angle), std::sin(angle), 0, -std::sin(angle), std::cos(angle), 0};
  map.c = size.width / 2.0 - map.a * size.width / 2.0 - map.b * size.height / 2.0;
  map.f = size.height / 2.0 - map.d * size.width / 2.0 - map.e * size.height / 2.0;
  return map;
}

std::vector<AffineMap> maps(const Size& size) {
  std::vector<AffineMap> all = {{},
                                {1, 0, 3, 0, 1, -2},
                                {1, 0, -1000, 0, 1, 0},
                                {1, 0.3, 0, 0, 1, 0},
                                {1, -0.99, 0, 0, 1, 0},
                                {1, 0, 0, 0.27, 1, 0},
                                {-1, 0, 9.5, 0, -1, 8.5},
                                {0, 0, 4, 0, 0, 4},
                                {7, 0.01, -3, -0.02, 5, 1e6}};
  for (const double degrees : {0.0, 4.5, -30.0, 90.0, 135.0, 179.9}) {
    all.push_back(turned(degrees, size));
  }
  return all;
}

TEST(Affine, AgreesWithThePlainOne) {
  using Between = AffineFill::Between;
  const AffineFill fills[] = {{Between::kNearest, {1, 2, 3}},
                              {Between::kBilinear, {200, 0, 7}},
                              {Between::kBicubic, {0, 255, 0}}};
  unsigned seed = 0;
  for (const Size& size : {Size{1, 1}, Size{2, 7}, Size{33, 20}, Size{64, 64}}) {
    for (const AffineMap& map : maps(size)) {
      for (const AffineFill& fill : fills) {
        const Pixels in = noise(size, seed++);
        Pixels expected(in.size());
        move_pixels_plain(map, fill, {in.data(), size.width, size.height}, expected.data());
        Pixels out(in.size());
        move_pixels(map, fill, {in.data(), size.width, size.height}, out.data());
        int apart = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
          apart = std::max(apart, std::abs(int{out[i]} - int{expected[i]}));
        }
        EXPECT_LE(apart, fill.between == Between::kNearest ? 0 : 1)
            << seed << ": " << map.a << " " << map.b;
      }
    }
  }
}

TEST(Affine, MovesAndFills) {
  // Two rows of three pixels, of which the red is counted.
  const Pixels in = {1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 5, 0, 0, 6, 0, 0};
  Pixels out(in.size());
  move_pixels({1, 0, 1, 0, 1, 0}, {AffineFill::Between::kNearest, {9, 9, 9}}, {in.data(), 3, 2},
              out.data());
  EXPECT_THAT(out, testing::ElementsAre(2, 0, 0, 3, 0, 0, 9, 9, 9, 5, 0, 0, 6, 0, 0, 9, 9, 9));
  move_pixels({1, 0, 0.5, 0, 1, 0}, {AffineFill::Between::kBilinear, {9, 9, 9}}, {in.data(), 3, 2},
              out.data());
  EXPECT_THAT(out, testing::ElementsAre(1, 0, 0, 2, 0, 0, 9, 9, 9, 4, 0, 0, 5, 0, 0, 9, 9, 9));
}

}  // namespace
}  // namespace unstarve::kernels
