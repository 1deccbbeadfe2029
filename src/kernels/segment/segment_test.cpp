#include "kernels/segment/segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/segment/segment_layout.h"
#include "kernels/segment/segment_packer.h"
#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

/// One component's blocks in memory of their own, rows a little apart.
struct Component {
  int columns = 0;
  int rows = 0;
  std::vector<std::int16_t> coefficients;

  std::ptrdiff_t stride() const { return std::ptrdiff_t{columns} * kBlockCoefficients + 16; }
};

using Components = std::vector<Component>;

Components blank(std::span<const std::pair<int, int>> shapes, std::int16_t value) {
  Components image;
  for (const auto& [columns, rows] : shapes) {
    Component component{columns, rows, {}};
    component.coefficients.assign(std::size_t(component.stride() * rows), value);
    image.push_back(std::move(component));
  }
  return image;
}

std::vector<SegmentPlane> planes_of(Components& image) {
  std::vector<SegmentPlane> planes;
  for (Component& component : image) {
    planes.push_back(
        {component.coefficients.data(), component.stride(), component.columns, component.rows});
  }
  return planes;
}

/// Only the coefficients, without what lies between the rows.
std::vector<std::int16_t> values_of(const Components& image) {
  std::vector<std::int16_t> values;
  for (const Component& component : image) {
    for (int row = 0; row < component.rows; ++row) {
      const auto first = component.coefficients.begin() + row * component.stride();
      values.insert(values.end(), first, first + component.columns * kBlockCoefficients);
    }
  }
  return values;
}

/// Blocks as files have them, and some that no file has: how many coefficients are not zero, how
/// large they are and where they end is drawn for each block.
void fill(Components& image, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int end) { return static_cast<int>(random() % unsigned(end)); };
  constexpr int kLargest[] = {1, 2, 3, 10, 64, 65, 127, 128, 129, 500, segment::kMaxMagnitude};
  for (Component& component : image) {
    const int dc_range = 1 << below(11);
    for (int block = 0; block < component.rows * component.columns; ++block) {
      std::int16_t* out = component.coefficients.data() +
                          block / component.columns * component.stride() +
                          block % component.columns * kBlockCoefficients;
      std::fill_n(out, kBlockCoefficients, std::int16_t{0});
      out[0] = static_cast<std::int16_t>(below(2 * dc_range) - dc_range);
      const int end = below(4) == 0 ? 64 : 1 + below(64);
      const int keep = 1 + below(8);  // eighths of the positions before `end`
      const int low = kLargest[below(11)];
      const int high = kLargest[below(below(2) == 0 ? 11 : 5)];
      for (int k = 1; k < end; ++k) {
        if (below(8) >= keep) continue;
        const int largest = k < segment::kLowEnd ? low : high;
        const int magnitude = below(3) == 0 ? largest : 1 + below(largest);
        out[segment::kNaturalOrder[std::size_t(k)]] =
            static_cast<std::int16_t>(below(2) == 0 ? magnitude : -magnitude);
      }
    }
  }
}

/// The packed bytes with readable bytes after them that must not matter.
struct Packed {
  explicit Packed(Components& image) {
    EXPECT_TRUE(pack_segment(planes_of(image), bytes));
    size = bytes.size();
    bytes.resize(size + kSegmentPadding, std::byte{0xA5});
  }
  std::span<const std::byte> span() const { return std::span(bytes).first(size); }

  std::vector<std::byte> bytes;
  std::size_t size = 0;
};

const std::vector<std::vector<std::pair<int, int>>> kSegmentShapes = {{{1, 1}},
                                                                      {{8, 1}},
                                                                      {{3, 1}, {3, 1}, {3, 1}},
                                                                      {{8, 2}, {4, 1}, {4, 1}},
                                                                      {{7, 1}, {4, 1}, {4, 1}},
                                                                      {{8, 4}, {8, 4}, {8, 4}}};

void put_block(const std::int16_t* block, SparseBlocks& blocks, std::size_t place) {
  std::fill_n(blocks.values[place], kBlockCoefficients, std::int16_t{7777});  // what lay there
  blocks.dc[place] = block[0];
  blocks.nonzero[place] = 0;
  int count = 0;
  for (int k = 1; k < kBlockCoefficients; ++k) {
    const std::int16_t value = block[segment::kNaturalOrder[std::size_t(k)]];
    if (value == 0) continue;
    blocks.values[place][count++] = value;
    blocks.nonzero[place] |= std::uint64_t{1} << k;
  }
}

/// Block by block as an entropy decoder meets them, with those that fill up the last MCUs.
bool pack_sparse(Components& image, std::vector<std::byte>& out) {
  SegmentPacker packer;
  std::vector<SegmentPacker::Shape> shapes;
  for (const Component& component : image) shapes.push_back({component.columns, component.rows});
  packer.begin(shapes);
  const std::vector<SegmentPlane> planes = planes_of(image);
  const std::vector<std::int16_t> filling(kBlockCoefficients, 9999);
  for (int column = 0; column < 9; ++column) {
    for (std::size_t i = 0; i < planes.size(); ++i) {
      for (std::size_t row = 0; row < SegmentPacker::kMaxRows; ++row) {
        const SegmentPlane& plane = planes[i];
        const bool fills = int(row) >= plane.rows || column >= plane.columns;
        const std::int16_t* block = plane.coefficients + std::ptrdiff_t(row) * plane.row_stride +
                                    std::ptrdiff_t{column} * kBlockCoefficients;
        put_block(fills ? filling.data() : block, packer.blocks(), packer.next(i, row));
      }
    }
  }
  return packer.finish(out);
}

class Segment : public test::EveryTarget {};

TEST_P(Segment, UnpacksWhatWasPacked) {
  for (const auto& shapes : kSegmentShapes) {
    for (unsigned seed = 0; seed < 200; ++seed) {
      Components image = blank(shapes, 7);
      fill(image, seed);
      const Packed packed(image);
      std::vector<std::byte> plainly;
      ASSERT_TRUE(pack_segment_plain(planes_of(image), plainly));
      ASSERT_TRUE(
          std::equal(plainly.begin(), plainly.end(), packed.span().begin(), packed.span().end()))
          << "seed " << seed;
      std::vector<std::byte> sparsely;
      ASSERT_TRUE(pack_sparse(image, sparsely));
      ASSERT_EQ(sparsely, plainly) << "seed " << seed;
      Components unpacked = blank(shapes, 99);
      ASSERT_TRUE(unpack_segment(packed.span(), planes_of(unpacked)));
      ASSERT_EQ(values_of(unpacked), values_of(image)) << "seed " << seed;
      Components plain = blank(shapes, 77);
      ASSERT_TRUE(unpack_segment_plain(packed.span(), planes_of(plain)));
      ASSERT_EQ(values_of(plain), values_of(image)) << "seed " << seed;
      // What lies between the rows stays as it was.
      EXPECT_EQ(unpacked[0].coefficients.back(), 99);
    }
  }
}

TEST_P(Segment, HoldsTheExtremes) {
  const std::vector<std::pair<int, int>> shapes = {{2, 1}};
  for (const int magnitude : {0, 1, 2, 127, 128, segment::kMaxMagnitude}) {
    for (const int sign : {-1, 1}) {
      Components image = blank(shapes, static_cast<std::int16_t>(sign * magnitude));
      image[0].coefficients[0] = segment::kMinDc;
      image[0].coefficients[kBlockCoefficients] = segment::kMaxDc;
      const Packed packed(image);
      Components unpacked = blank(shapes, 99);
      ASSERT_TRUE(unpack_segment(packed.span(), planes_of(unpacked)));
      EXPECT_EQ(values_of(unpacked), values_of(image)) << sign * magnitude;
    }
  }
}

/// Damage must not lead out of the bytes (the sanitizers' part), nor may the paths disagree on
/// whether it can be unpacked at all.
TEST_P(Segment, SurvivesDamage) {
  const std::vector<std::pair<int, int>> shapes = {{4, 2}, {2, 1}, {2, 1}};
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 300; ++seed) {
    Components image = blank(shapes, 0);
    fill(image, seed);
    const Packed sound(image);
    for (int round = 0; round < 20; ++round) {
      const std::size_t size = round % 4 == 0 ? random() % (sound.size + 1) : sound.size;
      // A copy of its own, so that nothing readable lies beyond the padding.
      std::vector<std::byte> bytes(sound.bytes.begin(), sound.bytes.begin() + std::ptrdiff_t(size));
      const auto flips = random() % 8;
      for (unsigned flip = 0; flip < flips && size > 0; ++flip) {
        bytes[random() % std::min<std::size_t>(size, flip % 2 == 0 ? 32 : size)] =
            static_cast<std::byte>(random());
      }
      bytes.resize(size + kSegmentPadding);
      bytes.shrink_to_fit();
      Components target = blank(shapes, 99);
      Components other = blank(shapes, 99);
      const bool unpacked = unpack_segment(std::span(bytes).first(size), planes_of(target));
      const bool plain = unpack_segment_plain(std::span(bytes).first(size), planes_of(other));
      ASSERT_EQ(unpacked, plain) << "seed " << seed << " round " << round;
    }
  }
}

TEST_P(Segment, RefusesWhatTheFormatCannotHold) {
  const std::vector<std::pair<int, int>> shapes = {{1, 1}};
  const auto packs = [&](int position, int value) {
    Components image = blank(shapes, 0);
    image[0].coefficients[std::size_t(position)] = static_cast<std::int16_t>(value);
    std::vector<std::byte> bytes;
    std::vector<std::byte> plainly;
    const bool packed = pack_segment(planes_of(image), bytes);
    EXPECT_EQ(packed, pack_segment_plain(planes_of(image), plainly));
    std::vector<std::byte> sparsely;
    EXPECT_EQ(packed, pack_sparse(image, sparsely));
    return packed;
  };
  EXPECT_TRUE(packs(63, -segment::kMaxMagnitude));
  EXPECT_FALSE(packs(63, segment::kMaxMagnitude + 1));
  EXPECT_FALSE(packs(8, -32768));
  EXPECT_TRUE(packs(0, -1024));
  EXPECT_FALSE(packs(0, -1025));
  EXPECT_FALSE(packs(0, 1024));
}

INSTANTIATE_TEST_SUITE_P(Simd, Segment, testing::ValuesIn(test::every_target()),
                         [](const auto& target) {
                           return std::string(hwy::TargetName(target.param));
                         });

}  // namespace
}  // namespace unstarve::kernels
