#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernels/cubic/cubic_pass.h"
#include "kernels/cubic/cubic_resizer.h"
#include "kernels/resize.h"
#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

struct Image {
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;
  std::vector<std::uint8_t> bytes;
};

Image random_image(int width, int height, unsigned seed) {
  Image image{width, height, width * kChannels + kRowPadding, {}};
  image.bytes.resize(static_cast<std::size_t>(image.stride * height));
  std::mt19937 random(seed);
  for (auto& byte : image.bytes) {
    const auto draw = static_cast<unsigned>(random());
    byte = static_cast<std::uint8_t>(draw % 4 == 0 ? 255 : draw % 4 == 1 ? 0 : draw >> 24);
  }
  return image;
}

std::vector<std::uint8_t> resized(const Image& image, const AxisRequest& x, const AxisRequest& y) {
  CubicResizer resizer;
  resizer.begin(x, y);
  const std::size_t row_bytes = std::size_t(x.window_count) * kChannels;
  std::vector<std::uint8_t> out(row_bytes * std::size_t(y.window_count) + 1, 77);
  resizer.set_output(out.data(), std::ptrdiff_t(row_bytes));
  const std::ptrdiff_t first = resizer.y_axis().source_first * image.stride +
                               std::ptrdiff_t{resizer.x_axis().source_first} * kChannels;
  resizer.rows(image.bytes.data() + first, image.stride, resizer.y_axis().source_count);
  EXPECT_TRUE(resizer.complete());
  EXPECT_EQ(out.back(), 77) << "wrote past the output";
  out.pop_back();
  return out;
}

/// From the definition, in double precision; each pass rounds to 8 bits, horizontal first.
std::vector<std::uint8_t> by_definition(const Image& image, const AxisRequest& x,
                                        const AxisRequest& y) {
  const auto kernel = [](double distance) {
    const double t = std::abs(distance);
    if (t < 1) return 1.5 * t * t * t - 2.5 * t * t + 1;
    if (t < 2) return -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2;
    return 0.0;
  };
  const auto sum_up = [&](const AxisRequest& axis, int output, auto&& sample) {
    const double scale = double(axis.source_size) / axis.target_size;
    const double stretch = std::max(1.0, scale);
    double sum = 0;
    double norm = 0;
    for (int i = 0; i < axis.source_size; ++i) {
      const double weight = kernel((i + 0.5 - (output + 0.5) * scale) / stretch);
      sum += weight * sample(i);
      norm += weight;
    }
    return std::clamp(std::floor(sum / norm + 0.5), 0.0, 255.0);
  };
  const int row_bytes = x.window_count * kChannels;
  std::vector<double> wide(static_cast<std::size_t>(image.height * row_bytes));
  for (int row = 0; row < image.height; ++row) {
    for (int column = 0; column < row_bytes; ++column) {
      const int at = column / kChannels;
      const int output = x.window_first + (x.reversed ? x.window_count - 1 - at : at);
      wide[std::size_t(row * row_bytes + column)] = sum_up(x, output, [&](int i) {
        return double(
            image.bytes[std::size_t(row * image.stride + i * kChannels + column % kChannels)]);
      });
    }
  }
  std::vector<std::uint8_t> out;
  for (int row = 0; row < y.window_count; ++row) {
    for (int column = 0; column < row_bytes; ++column) {
      out.push_back(static_cast<std::uint8_t>(sum_up(y, y.window_first + row, [&](int i) {
        return wide[std::size_t(i * row_bytes + column)];
      })));
    }
  }
  return out;
}

struct Shape {
  int width, height, target_width, target_height;
};

constexpr Shape kShapes[] = {{290, 185, 124, 124}, {97, 60, 124, 124}, {64, 64, 64, 64},
                             {1, 1, 24, 24},       {3, 200, 32, 17},   {640, 33, 64, 64},
                             {65, 31, 7, 5},       {33, 300, 20, 130}, {900, 40, 20, 40},
                             {19, 23, 1, 1}};

class CubicKernels : public test::EveryTarget {};

TEST_P(CubicKernels, IsWithinOneOfTheDefinition) {
  unsigned seed = 1;
  for (const Shape& shape : kShapes) {
    const Image image = random_image(shape.width, shape.height, seed++);
    const AxisRequest x{shape.width, shape.target_width, 0, shape.target_width, seed % 2 == 0};
    const AxisRequest y{shape.height, shape.target_height, 0, shape.target_height, false};
    const auto actual = resized(image, x, y);
    const auto expected = by_definition(image, x, y);
    ASSERT_EQ(actual.size(), expected.size());
    int largest = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      largest = std::max(largest, std::abs(int(actual[i]) - int(expected[i])));
    }
    EXPECT_LE(largest, 1) << shape.width << "x" << shape.height;
  }
}

TEST_P(CubicKernels, AgreeWithThePlainOnesToTheBit) {
  for (const Shape& shape : kShapes) {
    const Image image = random_image(shape.width, shape.height, 7);
    CubicAxis x;
    plan_cubic({shape.width, shape.target_width, 0, shape.target_width, false}, x);
    std::vector<std::uint8_t> actual(std::size_t(x.count * kChannels + kRowPadding));
    std::vector<std::uint8_t> expected(std::size_t(x.count * kChannels));
    cubic_row(image.bytes.data(), x, actual.data());
    cubic_row_plain(image.bytes.data(), x, expected.data());
    actual.resize(expected.size());
    EXPECT_EQ(actual, expected);

    CubicAxis y;
    plan_cubic({shape.height, shape.target_height, 0, shape.target_height, false}, y);
    std::vector<const std::uint8_t*> rows;
    for (int tap = 0; tap < y.taps[0]; ++tap)
      rows.push_back(&image.bytes[std::size_t(tap * image.stride)]);
    const int bytes = shape.width * kChannels;
    const CubicBlend blend{rows.data(), y.weights_of(0), y.shift, y.taps[0], bytes};
    std::vector<std::uint8_t> blended(std::size_t(bytes) + 1, 77);
    std::vector<std::uint8_t> plain = blended;
    cubic_blend(blend, blended.data());
    cubic_blend_plain(blend, plain.data());
    EXPECT_EQ(blended, plain);
  }
}

TEST_P(CubicKernels, KeepsFlatColourAndEqualSizes) {
  Image image = random_image(90, 70, 2);
  const auto same = resized(image, {90, 90, 0, 90, false}, {70, 70, 0, 70, false});
  for (int row = 0; row < 70; ++row) {
    EXPECT_TRUE(std::equal(&image.bytes[std::size_t(row * image.stride)],
                           &image.bytes[std::size_t(row * image.stride)] + 270,
                           &same[std::size_t(row * 270)]));
  }
  std::fill(image.bytes.begin(), image.bytes.end(), std::uint8_t{201});
  EXPECT_THAT(resized(image, {90, 64, 0, 64, false}, {70, 111, 0, 111, false}), testing::Each(201));
}

INSTANTIATE_TEST_SUITE_P(Simd, CubicKernels, testing::ValuesIn(test::every_target()),
                         test::target_name);

}  // namespace
}  // namespace unstarve::kernels
