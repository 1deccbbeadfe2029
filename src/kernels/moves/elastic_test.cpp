#include "kernels/moves/elastic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/pixels/blur.h"

namespace unstarve::kernels {
namespace {

using Pixels = std::vector<std::uint8_t>;

Pixels noise(int width, int height) {
  Pixels pixels;
  unsigned state = 7;
  for (int i = 0; i < 3 * width * height; ++i) {
    state = state * 1'664'525U + 1'013'904'223U;
    pixels.push_back(static_cast<std::uint8_t>(state >> 24U));
  }
  return pixels;
}

/// torch's grid_sample() of one channel with zeros outside; `of_mask` of an image of ones.
double sampled(const PixelView& in, double x, double y, int channel, bool of_mask) {
  double sum = 0;
  for (const int right : {0, 1}) {
    for (const int below : {0, 1}) {
      const int column = static_cast<int>(std::floor(x)) + right;
      const int row = static_cast<int>(std::floor(y)) + below;
      if (column < 0 || column >= in.width || row < 0 || row >= in.height) continue;
      const double weight = (1 - std::abs(x - column)) * (1 - std::abs(y - row));
      sum += weight * (of_mask ? 1.0 : in.pixels[3 * (row * in.width + column) + channel]);
    }
  }
  return sum;
}

Displacement waves(int width, int height) {
  Displacement made;
  for (int i = 0; i < width * height; ++i) {
    made.across.push_back(static_cast<float>(4.3 * std::sin(0.37 * i)));
    made.down.push_back(static_cast<float>(3.1 * std::cos(0.21 * i)));
  }
  return made;
}

TEST(Elastic, PixelsComeFromTheirMovedPlaces) {
  constexpr double kFill = 90;
  for (const auto& [width, height] : {std::pair{1, 1}, {33, 20}, {300, 5}}) {
    const Pixels in = noise(width, height);
    const PixelView view{in.data(), width, height};
    const Displacement moved = waves(width, height);
    Pixels out(in.size());
    displace_pixels(moved, {{AffineFill::Between::kBilinear, {90, 90, 90}}, EdgeRule::kTorch}, view,
                    out.data());
    for (int i = 0; i < width * height; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double x = i % width + double{moved.across[at]};
      const double y = i / width + double{moved.down[at]};
      for (int channel = 0; channel < 3; ++channel) {
        const double there = sampled(view, x, y, channel, true);
        const double expected = (sampled(view, x, y, channel, false) - kFill) * there + kFill;
        ASSERT_NEAR(out[3 * at + static_cast<std::size_t>(channel)], expected, 1.5) << i;
      }
    }
  }
}

TEST(Elastic, NearestPixelsAreCopied) {
  const Pixels in = {1, 2, 3, 4, 5, 6};
  Displacement moved;
  moved.across = {0.6F, 0.6F};
  moved.down = {0.4F, -0.4F};
  Pixels out(6);
  displace_pixels(moved, {{AffineFill::Between::kNearest, {7, 8, 9}}, EdgeRule::kTorch},
                  {in.data(), 2, 1}, out.data());
  EXPECT_THAT(out, testing::ElementsAre(4, 5, 6, 7, 8, 9));
}

TEST(Elastic, UnblurredNumbersAreEvenAndScaled) {
  Displacement drawn;
  draw_displacement({.alpha_across = 4, .alpha_down = 8, .sigma_across = 0, .sigma_down = 0}, 5,
                    300, 200, drawn);
  for (const auto& [plane, most] : {std::pair{&drawn.across, 2.0}, {&drawn.down, 4.0}}) {
    double squares = 0;
    for (const float value : *plane) {
      ASSERT_LE(std::abs(value), most);
      squares += double{value} * value;
    }
    const double sum = std::accumulate(plane->begin(), plane->end(), 0.0);
    EXPECT_NEAR(sum / 60'000, 0, 0.01 * most);
    EXPECT_NEAR(squares / 60'000, most * most / 3, 0.01 * most * most);
  }
  double together = 0;
  for (std::size_t i = 0; i < 60'000; ++i) together += double{drawn.across[i]} * drawn.down[i];
  EXPECT_NEAR(together / 60'000, 0, 0.05) << "planes of their own";
}

TEST(Elastic, TheSeedSaysTheNumbers) {
  Displacement first;
  Displacement second;
  draw_displacement({}, 1, 64, 48, first);
  draw_displacement({}, 2, 30, 30, second);
  EXPECT_EQ(second.across.size(), 900U);
  draw_displacement({}, 1, 64, 48, second);
  EXPECT_EQ(first.across, second.across);
  EXPECT_EQ(first.down, second.down);
  draw_displacement({}, 2, 64, 48, second);
  EXPECT_NE(first.across, second.across);
}

TEST(Elastic, TapsAreTorchvisions) {
  EXPECT_EQ(elastic_taps(5), 41);
  EXPECT_EQ(elastic_taps(0.5), 5);
  EXPECT_EQ(elastic_taps(0.4), 5) << "4 taps are made 5";
  EXPECT_EQ(elastic_taps(0.05), 1);
}

/// One number among zeros becomes the product of both directions' weights, mirrored at the edges.
TEST(BlurPlane, ANumberIsSpreadByBothGaussians) {
  constexpr int kWidth = 12;
  constexpr int kHeight = 9;
  std::vector<float> values(kWidth * kHeight, 0.0F);
  values[kWidth + 1] = 1;
  std::vector<float> memory;
  blur_plane({5, 0.8}, {7, 1.7}, {values, kWidth, kHeight}, memory);
  const auto weight = [](int taps, double sigma, int tap) {
    const auto of = [&](int at) {
      const double place = (at - taps / 2) / std::sqrt(2.0);
      return std::exp(-std::pow(place / sigma, 2));
    };
    double sum = 0;
    for (int at = 0; at < taps; ++at) sum += of(at);
    return std::abs(tap) <= taps / 2 ? of(tap + taps / 2) / sum : 0.0;
  };
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double across = weight(5, 0.8, x - 1) + weight(5, 0.8, x + 1);
      const double down = weight(7, 1.7, y - 1) + weight(7, 1.7, y + 1);
      EXPECT_NEAR(values[static_cast<std::size_t>(y * kWidth + x)], across * down, 1e-6)
          << x << ", " << y;
    }
  }
}

}  // namespace
}  // namespace unstarve::kernels
