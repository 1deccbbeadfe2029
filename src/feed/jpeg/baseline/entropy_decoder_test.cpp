#include "feed/jpeg/baseline/entropy_decoder.h"

#include <gtest/gtest.h>

#include <cstdio>  // jpeglib.h needs FILE
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <jpeglib.h>

#include "feed/testing/made_jpeg.h"

namespace unstarve::feed {
namespace {

using test::JpegKind;
using Coefficients = std::vector<std::int16_t>;

/// All blocks of the image, component by component, row by row, as libjpeg reads them.
Coefficients with_libjpeg(const std::vector<std::byte>& jpeg) {
  jpeg_decompress_struct codec = {};
  jpeg_error_mgr errors = {};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(jpeg.data()),
               static_cast<unsigned long>(jpeg.size()));
  jpeg_read_header(&codec, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&codec);
  Coefficients result;
  for (int i = 0; i < codec.num_components; ++i) {
    const jpeg_component_info& component = codec.comp_info[i];
    for (JDIMENSION row = 0; row < component.height_in_blocks; ++row) {
      JBLOCKARRAY blocks = (*codec.mem->access_virt_barray)(reinterpret_cast<j_common_ptr>(&codec),
                                                            arrays[i], row, 1, FALSE);
      const std::int16_t* first = blocks[0][0];
      result.insert(result.end(), first, first + 64 * component.width_in_blocks);
    }
  }
  jpeg_destroy_decompress(&codec);
  return result;
}

/// Memory for one MCU row of `columns` MCUs.
struct RowMemory {
  RowMemory(const BaselineFrame& frame, int columns) {
    for (std::size_t i = 0; i < std::size_t(frame.component_count); ++i) {
      const BaselineFrame::Component& component = frame.components[i];
      const std::ptrdiff_t stride = std::ptrdiff_t{64} * columns * component.horizontal;
      planes[i].assign(std::size_t(stride * component.vertical), 99);
      targets[i] = {planes[i].data(), stride, columns * component.horizontal, component.vertical};
    }
  }
  std::array<Coefficients, 3> planes;
  std::array<BlockTarget, 3> targets;
};

int blocks_along(int pixels, int factor, int largest) {
  const int samples = (pixels * factor + largest - 1) / largest;
  return (samples + 7) / 8;
}

Result<Coefficients> with_ours(EntropyDecoder& decoder, const BaselineFrame& frame) {
  std::array<Coefficients, 3> planes;
  RowMemory memory(frame, frame.mcus_across);
  if (Status status = decoder.begin(frame); !status) return forward_error(status);
  for (int row = 0; row < frame.mcu_rows; ++row) {
    if (Status status = decoder.next_row({0, frame.mcus_across}, memory.targets); !status) {
      return forward_error(status);
    }
    for (std::size_t i = 0; i < std::size_t(frame.component_count); ++i) {
      const BaselineFrame::Component& component = frame.components[i];
      const int across = blocks_along(frame.size.width, component.horizontal, frame.max_horizontal);
      const int down = blocks_along(frame.size.height, component.vertical, frame.max_vertical);
      for (int v = 0; v < component.vertical && row * component.vertical + v < down; ++v) {
        const std::int16_t* first = memory.planes[i].data() + v * memory.targets[i].row_stride;
        planes[i].insert(planes[i].end(), first, first + std::ptrdiff_t{64} * across);
      }
    }
  }
  Coefficients all;
  for (const Coefficients& plane : planes) all.insert(all.end(), plane.begin(), plane.end());
  return all;
}

TEST(EntropyDecoder, ReadsTheCoefficientsThatLibjpegReads) {
  EntropyDecoder decoder;
  const auto frame = std::make_unique<BaselineFrame>();
  for (const JpegKind kind : {JpegKind::k420, JpegKind::k422, JpegKind::k444, JpegKind::kGrey}) {
    for (const ImageSize& size :
         {ImageSize{1, 1}, {7, 9}, {16, 16}, {17, 33}, {64, 40}, {131, 77}}) {
      const auto [width, height] = size;
      const std::vector<std::byte> jpeg = test::make_jpeg(kind, width, height);
      ASSERT_TRUE(read_baseline_frame(jpeg, *frame));
      EXPECT_EQ(frame->size.width, width);
      EXPECT_EQ(frame->size.height, height);
      const Result<Coefficients> ours = with_ours(decoder, *frame);
      ASSERT_TRUE(ours) << ours.error().message;
      EXPECT_EQ(*ours, with_libjpeg(jpeg)) << int(kind) << ' ' << width << 'x' << height;
    }
  }
}

TEST(EntropyDecoder, PassesOverWhatIsNotWanted) {
  EntropyDecoder decoder;
  const auto frame = std::make_unique<BaselineFrame>();
  const std::vector<std::byte> jpeg = test::make_jpeg(JpegKind::k420, 131, 77);
  ASSERT_TRUE(read_baseline_frame(jpeg, *frame));
  RowMemory whole(*frame, frame->mcus_across);
  ASSERT_TRUE(decoder.begin(*frame));
  for (int row = 0; row < 3; ++row) {
    ASSERT_TRUE(decoder.next_row({0, frame->mcus_across}, whole.targets));
  }
  RowMemory part(*frame, 4);
  ASSERT_TRUE(decoder.begin(*frame));
  ASSERT_TRUE(decoder.pass_rows(2));
  ASSERT_TRUE(decoder.next_row({2, 4}, part.targets));
  for (std::size_t i = 0; i < 3; ++i) {
    const int factor = frame->components[i].horizontal;
    const std::int16_t* wanted = whole.planes[i].data() + std::ptrdiff_t{64} * 2 * factor;
    EXPECT_EQ(std::memcmp(part.planes[i].data(), wanted, 2 * 64 * 4 * std::size_t(factor)), 0);
  }
}

TEST(EntropyDecoder, LeavesOtherKindsToLibjpeg) {
  const auto frame = std::make_unique<BaselineFrame>();
  for (const JpegKind kind : {JpegKind::kProgressive, JpegKind::kCmyk}) {
    const Status status = read_baseline_frame(test::make_jpeg(kind, 20, 20), *frame);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kNotSupported);
  }
}

TEST(EntropyDecoder, GivesUpOnACutFile) {
  EntropyDecoder decoder;
  const auto frame = std::make_unique<BaselineFrame>();
  const std::vector<std::byte> jpeg = test::make_jpeg(JpegKind::k444, 64, 64);
  for (std::size_t size = 0; size + 2 < jpeg.size(); ++size) {
    const std::vector<std::byte> cut(jpeg.begin(), jpeg.begin() + std::ptrdiff_t(size));
    if (!read_baseline_frame(cut, *frame)) continue;
    // The last byte holds but padding bits, now and then.
    if (size + 3 >= jpeg.size()) continue;
    EXPECT_FALSE(with_ours(decoder, *frame)) << size;
  }
}

/// Whatever the bytes are: an error, or coefficients; never an access outside of the memory given.
TEST(EntropyDecoder, SurvivesAnyBytes) {
  std::mt19937 random(1);
  EntropyDecoder decoder;
  const auto frame = std::make_unique<BaselineFrame>();
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> jpeg = test::make_jpeg(JpegKind::k420, 48, 48, unsigned(round % 7));
    for (int change = 0; change < 1 + round % 5; ++change) {
      jpeg[random() % jpeg.size()] = std::byte(random() & 255);
    }
    if (!read_baseline_frame(jpeg, *frame)) continue;
    if (frame->size.width > 512 || frame->size.height > 512) continue;
    read += with_ours(decoder, *frame) ? 1 : 0;
  }
  EXPECT_GT(read, 0);
}

TEST(HuffmanTable, RefusesWhatIsNoPrefixCode) {
  const auto table = std::make_unique<HuffmanTable>();
  std::array<std::uint8_t, 16> counts = {};
  const std::array<std::uint8_t, 4> symbols = {1, 2, 3, 4};
  counts[0] = 3;  // three codes of one bit
  EXPECT_FALSE(table->build(counts, std::span(symbols).first(3)));
  counts = {};
  counts[0] = 2;  // uses the code of all ones
  EXPECT_FALSE(table->build(counts, std::span(symbols).first(2)));
  counts = {};
  counts[1] = 3;
  EXPECT_TRUE(table->build(counts, std::span(symbols).first(3)));
  EXPECT_FALSE(table->build(counts, symbols)) << "a symbol without a code";
}

}  // namespace
}  // namespace unstarve::feed
