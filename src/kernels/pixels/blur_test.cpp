#include "kernels/pixels/blur.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace unstarve::kernels {
namespace {

using Pixels = std::vector<std::uint8_t>;

/// By its definition: each pixel by itself, in doubles.
Pixels plain(const Blur& blur, const Pixels& pixels, int width, int height) {
  const auto weight = [&blur](int from_centre) {
    const double place = from_centre / std::sqrt(2.0) / blur.sigma;
    return std::exp(-place * place);
  };
  const auto mirrored = [](int place, int size) {
    const int inner = place < 0 ? -place : place;
    return inner < size ? inner : 2 * (size - 1) - inner;
  };
  Pixels out(pixels.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        double sum = 0;
        double weights = 0;
        for (int dy = -(blur.taps_down / 2); dy <= blur.taps_down / 2; ++dy) {
          for (int dx = -(blur.taps_across / 2); dx <= blur.taps_across / 2; ++dx) {
            const int row = mirrored(y + dy, height);
            const int column = mirrored(x + dx, width);
            const double part = weight(dx) * weight(dy);
            sum += part * pixels[static_cast<std::size_t>(3 * (row * width + column) + channel)];
            weights += part;
          }
        }
        out[static_cast<std::size_t>(3 * (y * width + x) + channel)] =
            static_cast<std::uint8_t>(std::lround(sum / weights));
      }
    }
  }
  return out;
}

TEST(Blur, IsWhatItsDefinitionSays) {
  std::mt19937 random(5);
  std::vector<float> memory;
  for (const Blur& blur : {Blur{3, 3, 0.5}, Blur{5, 9, 1.7}, Blur{1, 7, 2.0}, Blur{23, 3, 4.0}}) {
    const int width = 24;
    const int height = 11;
    Pixels pixels(static_cast<std::size_t>(3 * width * height));
    for (auto& value : pixels) value = static_cast<std::uint8_t>(random());
    const Pixels expected = plain(blur, pixels, width, height);
    blur_pixels(blur, pixels.data(), width, height, memory);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      ASSERT_NEAR(int{pixels[i]}, int{expected[i]}, 1) << blur.taps_across << " at " << i;
    }
  }
}

TEST(Blur, LeavesOneColourAlone) {
  std::vector<float> memory;
  Pixels pixels(3 * 8 * 8, 200);
  blur_pixels({7, 7, 3.0}, pixels.data(), 8, 8, memory);
  EXPECT_THAT(pixels, testing::Each(200));
}

}  // namespace
}  // namespace unstarve::kernels
