#include "kernels/moves/perspective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace unstarve::kernels {
namespace {

using Pixels = std::vector<std::uint8_t>;

Pixels noise(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  Pixels pixels(static_cast<std::size_t>(3 * width * height));
  for (auto& value : pixels) value = static_cast<std::uint8_t>(random());
  return pixels;
}

/// What Pillow or grid_sample() takes for a pixel that may lie outside, and how much it counts.
struct Taken {
  double value;
  double weight;
};

Taken taken(const PixelView& in, EdgeRule edges, int column, int row, int channel) {
  const int x = std::clamp(column, 0, in.width - 1);
  const int y = std::clamp(row, 0, in.height - 1);
  const bool counts = edges == EdgeRule::kPillow || (x == column && y == row);
  return {counts ? static_cast<double>(in.pixels[3 * (y * in.width + x) + channel]) : 0,
          counts ? 1.0 : 0.0};
}

double blended(const PixelView& in, const Projection& projection, double x, double y, int channel) {
  const double fill = projection.fill.colour[static_cast<std::size_t>(channel)];
  if (projection.edges == EdgeRule::kPillow &&
      !(x >= 0 && x < in.width && y >= 0 && y < in.height)) {
    return fill;
  }
  const double left = std::floor(x - 0.5);
  const double upper = std::floor(y - 0.5);
  double sum = 0;
  double weights = 0;
  for (const int right : {0, 1}) {
    for (const int down : {0, 1}) {
      const double weight =
          (1 - std::abs(x - 0.5 - left - right)) * (1 - std::abs(y - 0.5 - upper - down));
      const Taken pixel = taken(in, projection.edges, static_cast<int>(left) + right,
                                static_cast<int>(upper) + down, channel);
      sum += weight * pixel.value;
      weights += weight * pixel.weight;
    }
  }
  if (projection.edges == EdgeRule::kTorch) sum = (sum - fill) * weights + fill;
  return projection.edges == EdgeRule::kPillow ? std::floor(sum) : std::nearbyint(sum);
}

double nearest(const PixelView& in, const Projection& projection, double x, double y, int channel) {
  const auto column = static_cast<int>(std::floor(x));
  const auto row = static_cast<int>(std::floor(y));
  if (column < 0 || column >= in.width || row < 0 || row >= in.height) {
    return projection.fill.colour[static_cast<std::size_t>(channel)];
  }
  return in.pixels[3 * (row * in.width + column) + channel];
}

/// Largest difference from what the definitions above say.
double apart(const PerspectiveMap& map, const Projection& projection, const PixelView& in) {
  Pixels out(static_cast<std::size_t>(3 * in.width * in.height));
  project_pixels(map, projection, in, out.data());
  const bool blends = projection.fill.between == AffineFill::Between::kBilinear;
  double most = 0;
  for (int i = 0; i < in.width * in.height; ++i) {
    const double x = i % in.width + 0.5;
    const double y = i / in.width + 0.5;
    const double depth = map.g * x + map.h * y + 1;
    const double column = (map.a * x + map.b * y + map.c) / depth;
    const double row = (map.d * x + map.e * y + map.f) / depth;
    for (int channel = 0; channel < 3; ++channel) {
      const double expected = blends ? blended(in, projection, column, row, channel)
                                     : nearest(in, projection, column, row, channel);
      const double own = out[static_cast<std::size_t>(3 * i + channel)];
      most = std::max(most, std::abs(own - expected));
    }
  }
  return most;
}

TEST(Perspective, AgreesWithTheDefinition) {
  const std::vector<PerspectiveMap> maps = {
      {},
      {1.3, 0.2, -4.1, 0.1, 1.2, -3.3, 0.004, -0.003},
      {0.7, -0.3, 9.2, 0.2, 0.8, 1.3, -0.002, 0.001},
      {1, 0, -500, 0, 1, 0, 0, 0},
      {-1, 0, 31.3, 0, -1, 18.2, 0, 0},
      {1, 0, 0, 0, 1, 0, -0.1, 0.003},  // the horizon lies in the image
  };
  unsigned seed = 0;
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 7}, {33, 20}, {300, 5}}) {
    for (const PerspectiveMap& map : maps) {
      for (const EdgeRule edges : {EdgeRule::kPillow, EdgeRule::kTorch, EdgeRule::kTorchBare}) {
        const Pixels in = noise(width, height, seed++);
        const PixelView view{in.data(), width, height};
        EXPECT_LE(apart(map, {{AffineFill::Between::kBilinear, {200, 0, 7}}, edges}, view), 1)
            << seed;
        EXPECT_EQ(apart(map, {{AffineFill::Between::kNearest, {200, 0, 7}}, edges}, view), 0)
            << seed;
      }
    }
  }
}

TEST(Perspective, OfTwoNearestPixelsTorchHasTheEvenOne) {
  const Pixels in = {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0};
  Pixels out(in.size());
  const PerspectiveMap half{1, 0, 0.5, 0, 1, 0, 0, 0};
  project_pixels(half, {{AffineFill::Between::kNearest, {9, 9, 9}}, EdgeRule::kTorch},
                 {in.data(), 4, 1}, out.data());
  EXPECT_THAT(out, testing::ElementsAre(0, 0, 0, 2, 0, 0, 2, 0, 0, 9, 9, 9));
  project_pixels(half, {{AffineFill::Between::kNearest, {9, 9, 9}}, EdgeRule::kPillow},
                 {in.data(), 4, 1}, out.data());
  EXPECT_THAT(out, testing::ElementsAre(1, 0, 0, 2, 0, 0, 3, 0, 0, 9, 9, 9));
}

TEST(Perspective, PlacesThatAreNoNumbersAreFilled) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const Pixels in = noise(3, 2, 1);
  for (const AffineFill::Between between :
       {AffineFill::Between::kNearest, AffineFill::Between::kBilinear}) {
    for (const EdgeRule edges : {EdgeRule::kPillow, EdgeRule::kTorch}) {
      Pixels out(in.size());
      project_pixels({kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone},
                     {{between, {5, 5, 5}}, edges}, {in.data(), 3, 2}, out.data());
      EXPECT_THAT(out, testing::Each(5));
    }
  }
}

}  // namespace
}  // namespace unstarve::kernels
