#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "kernels/strip_resizer.h"
#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

struct ResizedImage {
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;
  std::vector<std::uint8_t> bytes;
};

ResizedImage random_resized_image(int width, int height, unsigned seed) {
  ResizedImage image{width, height, width * kChannels + kRowPadding, {}};
  image.bytes.resize(static_cast<std::size_t>(image.stride * height));
  std::mt19937 random(seed);
  // Extremes are where rounding and saturation show.
  for (auto& byte : image.bytes) {
    const auto draw = static_cast<unsigned>(random());
    byte = static_cast<std::uint8_t>(draw % 4 == 0 ? 255 : draw % 4 == 1 ? 0 : draw >> 24);
  }
  return image;
}

/// Straight from the definition, in double precision, without any of the product's code: each pass
/// rounds to 8 bits, horizontal first, as torchvision and Pillow do.
std::vector<std::uint8_t> resized_by_definition(const ResizedImage& image, const AxisRequest& x,
                                                const AxisRequest& y) {
  const auto sum_up = [](const AxisRequest& axis, int output, auto&& sample) {
    const double scale = double(axis.source_size) / axis.target_size;
    const double radius = std::max(1.0, scale);
    const double center = (output + 0.5) * scale;
    double sum = 0;
    double norm = 0;
    for (int i = 0; i < axis.source_size; ++i) {
      const double weight = std::max(0.0, 1.0 - std::abs(i + 0.5 - center) / radius);
      if (weight == 0) continue;
      sum += weight * sample(i);
      norm += weight;
    }
    return std::clamp(std::floor(sum / norm + 0.5), 0.0, 255.0);
  };
  const auto output_of = [](const AxisRequest& axis, int i) {
    return axis.window_first + (axis.reversed ? axis.window_count - 1 - i : i);
  };
  const int row_bytes = x.window_count * kChannels;
  std::vector<double> wide(static_cast<std::size_t>(image.height * row_bytes));
  for (int row = 0; row < image.height; ++row) {
    for (int column = 0; column < row_bytes; ++column) {
      const int channel = column % kChannels;
      wide[std::size_t(row * row_bytes + column)] =
          sum_up(x, output_of(x, column / kChannels), [&](int i) {
            return double(image.bytes[std::size_t(row * image.stride + i * kChannels + channel)]);
          });
    }
  }
  std::vector<std::uint8_t> out;
  for (int row = 0; row < y.window_count; ++row) {
    for (int column = 0; column < row_bytes; ++column) {
      out.push_back(static_cast<std::uint8_t>(sum_up(
          y, output_of(y, row), [&](int i) { return wide[std::size_t(i * row_bytes + column)]; })));
    }
  }
  return out;
}

std::vector<std::uint8_t> by_resizer(const ResizedImage& image, const AxisRequest& x,
                                     const AxisRequest& y, int rows_per_call) {
  StripResizer resizer;
  resizer.begin(x, y);
  const std::size_t row_bytes = std::size_t(x.window_count) * kChannels;
  std::vector<std::uint8_t> out(row_bytes * std::size_t(y.window_count) + 1, 77);
  resizer.set_output(out.data(), std::ptrdiff_t(row_bytes));
  const int end = resizer.y_plan().source_first + resizer.y_plan().source_count;
  for (int row = resizer.y_plan().source_first; row < end; row += rows_per_call) {
    const std::uint8_t* first =
        image.bytes.data() + row * image.stride + resizer.x_plan().source_first * kChannels;
    resizer.rows(first, image.stride, std::min(rows_per_call, end - row));
  }
  EXPECT_TRUE(resizer.complete());
  EXPECT_EQ(out.back(), 77) << "wrote past the output";
  out.pop_back();
  return out;
}

struct Difference {
  int largest = 0;
  double ratio = 0;  // of samples that differ at all
};

Difference difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  EXPECT_EQ(a.size(), b.size());
  Difference result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int apart = std::abs(int(a[i]) - int(b[i]));
    result.largest = std::max(result.largest, apart);
    result.ratio += apart != 0;
  }
  result.ratio /= double(a.size());
  return result;
}

struct ResizeShape {
  int width, height, target_width, target_height;
};

// Enlarging, shrinking, both, single pixels, odd widths, strips that end early, more taps than
// 16-bit weights allow.
constexpr ResizeShape kResizeShapes[] = {
    {290, 285, 224, 224}, {500, 375, 224, 224}, {97, 60, 224, 224}, {224, 224, 224, 224},
    {1, 1, 224, 224},     {3, 200, 32, 17},     {640, 33, 64, 64},  {65, 31, 7, 5},
    {33, 700, 20, 300},   {1500, 40, 20, 40},   {40, 1500, 40, 20}, {19, 23, 1, 1},
    {700, 30, 224, 20},   {760, 9, 224, 9},     {900, 9, 224, 9}};

using ResizeOn = test::EveryTarget;

TEST_P(ResizeOn, IsWithinOneOfTheDefinition) {
  unsigned seed = 1;
  for (const ResizeShape& shape : kResizeShapes) {
    const ResizedImage image = random_resized_image(shape.width, shape.height, seed++);
    const AxisRequest x{shape.width, shape.target_width, 0, shape.target_width, false};
    const AxisRequest y{shape.height, shape.target_height, 0, shape.target_height, false};
    const Difference apart =
        difference(by_resizer(image, x, y, kStripRows), resized_by_definition(image, x, y));
    SCOPED_TRACE(testing::Message() << shape.width << "x" << shape.height << " -> "
                                    << shape.target_width << "x" << shape.target_height);
    EXPECT_LE(apart.largest, 1);
    EXPECT_LE(apart.ratio, 0.03);
  }
}

TEST_P(ResizeOn, FlipsAndCutsAWindow) {
  const ResizedImage image = random_resized_image(320, 240, 9);
  const AxisRequest x{320, 256, 16, 224, true};
  const AxisRequest y{240, 192, 60, 100, false};
  EXPECT_LE(
      difference(by_resizer(image, x, y, kStripRows), resized_by_definition(image, x, y)).largest,
      1);
}

TEST_P(ResizeOn, DoesNotDependOnHowRowsArrive) {
  const ResizedImage image = random_resized_image(123, 211, 5);
  const AxisRequest x{123, 64, 0, 64, false};
  const AxisRequest y{211, 64, 0, 64, false};
  const auto whole = by_resizer(image, x, y, 211);
  EXPECT_EQ(by_resizer(image, x, y, 1), whole);
  EXPECT_EQ(by_resizer(image, x, y, 7), whole);
  EXPECT_EQ(by_resizer(image, x, y, 40), whole);
}

TEST_P(ResizeOn, KeepsFlatColour) {
  for (const int value : {0, 1, 127, 254, 255}) {
    ResizedImage image = random_resized_image(301, 199, 2);
    std::fill(image.bytes.begin(), image.bytes.end(), static_cast<std::uint8_t>(value));
    const auto out = by_resizer(image, {301, 224, 0, 224, false}, {199, 224, 0, 224, false}, 32);
    EXPECT_THAT(out, testing::Each(value));
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, ResizeOn, testing::ValuesIn(test::every_target()),
                         test::target_name);

TEST(AxisPlan, WeightsSumToOne) {
  AxisPlan plan;
  for (const int source : {1, 2, 7, 100, 223, 224, 225, 500, 4000}) {
    plan_axis({source, 224, 0, 224, false}, plan);
    fix_weights(plan);
    for (int output = 0; output < plan.count; ++output) {
      int sum = 0;
      for (int tap = 0; tap < plan.taps[std::size_t(output)]; ++tap) {
        sum += plan.fixed_weights[std::size_t(output * plan.max_taps + tap)];
      }
      ASSERT_TRUE(sum == 65536 || sum == 65535) << sum;
    }
  }
}

}  // namespace
}  // namespace unstarve::kernels
