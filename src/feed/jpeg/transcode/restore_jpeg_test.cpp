#include "feed/jpeg/transcode/restore_jpeg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "feed/jpeg/payload/payload.h"
#include "feed/jpeg/payload/payload_layout.h"
#include "feed/jpeg/testing/sampled_jpeg.h"

namespace unstarve::feed {
namespace {

using test::JpegRecipe;

std::vector<std::byte> restore(const std::vector<std::byte>& payload) {
  std::vector<std::byte> jpeg;
  const Status status = restore_jpeg(payload, jpeg);
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
  return jpeg;
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(RestoreJpeg, DecodesToTheSamePixels) {
  for (const test::Sampling& sampling : test::kSamplings) {
    for (const ImageSize size : test::kSizes) {
      JpegRecipe recipe;
      recipe.sampling = sampling;
      recipe.size = size;
      SCOPED_TRACE(test::describe(recipe));
      const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
      const std::vector<std::byte> restored = restore(test::encode(jpeg));
      ASSERT_FALSE(restored.empty());
      EXPECT_EQ(test::pixels_of_jpeg(restored), test::pixels_of_jpeg(jpeg));
    }
  }
}

TEST(RestoreJpeg, DecodesToTheSamePixelsWhateverTheFileWas) {
  for (int variant = 0; variant < 16; ++variant) {
    JpegRecipe recipe;
    recipe.size = {203, 77};
    recipe.progressive = (variant & 1) != 0;
    recipe.restart_interval = (variant & 2) != 0 ? 3 : 0;
    recipe.quality = (variant & 4) != 0 ? 100 : 5;  // 5: quantisation steps above 255
    if ((variant & 8) != 0) {
      recipe.rgb = true;
      recipe.sampling = {3, {1, 1}, {1, 1}};
    }
    SCOPED_TRACE(test::describe(recipe));
    const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
    EXPECT_EQ(test::pixels_of_jpeg(restore(test::encode(jpeg))), test::pixels_of_jpeg(jpeg));
  }
}

TEST(RestoreJpeg, DecodesToTheSamePixelsWithAScanForEachComponent) {
  for (const test::Sampling& sampling : test::kSeparateSamplings) {
    for (const ImageSize size : test::kSizes) {
      JpegRecipe recipe;
      recipe.sampling = sampling;
      recipe.size = size;
      SCOPED_TRACE(test::describe(recipe));
      const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
      const std::vector<std::byte> payload = test::encode(jpeg);
      EXPECT_EQ(test::coefficients_of_payload(payload), test::coefficients_of_jpeg(jpeg));
      EXPECT_EQ(test::pixels_of_jpeg(restore(payload)), test::pixels_of_jpeg(jpeg));
    }
  }
}

TEST(RestoreJpeg, KeepsMarkers) {
  const std::vector<std::byte> restored = restore(test::encode(test::make_sampled_jpeg({})));
  EXPECT_THAT(text_of(restored), testing::HasSubstr("a comment to be kept"));
  EXPECT_THAT(text_of(restored), testing::HasSubstr("Exif"));
  EXPECT_THAT(text_of(restored), testing::HasSubstr("JFIF"));
}

TEST(RestoreJpeg, NamesWhatIsBroken) {
  const std::vector<std::byte> payload = test::encode(test::make_sampled_jpeg({}));
  PayloadHead head;
  ASSERT_TRUE(parse_head(payload, head));
  const auto message_of = [](const std::vector<std::byte>& bytes) {
    std::vector<std::byte> jpeg;
    const Status status = restore_jpeg(bytes, jpeg);
    return status ? std::string("none") : status.error().message;
  };
  const auto flipped = [&](std::uint64_t offset) {
    std::vector<std::byte> bytes = payload;
    bytes[offset] ^= std::byte{1};
    return bytes;
  };
  EXPECT_THAT(message_of(flipped(12)), testing::HasSubstr("checksum is wrong"));
  EXPECT_THAT(message_of(flipped(head.row_offsets[1] + 40)), testing::HasSubstr("MCU row 1"));
  EXPECT_THAT(message_of(flipped(payload.size() - 1)), testing::HasSubstr("markers"));
  std::vector<std::byte> cut(payload.begin(), payload.end() - 1);
  EXPECT_THAT(message_of(cut), testing::HasSubstr("ends early"));
  EXPECT_THAT(message_of({}), testing::HasSubstr("ends early"));
}

TEST(RestoreJpeg, RefusesMorePixelsThanAreAllowed) {
  JpegRecipe recipe;
  recipe.size = {70, 40};
  const std::vector<std::byte> payload = test::encode(test::make_sampled_jpeg(recipe));
  std::vector<std::byte> jpeg;
  EXPECT_TRUE(restore_jpeg(payload, jpeg, 70 * 40));
  const Status refused = restore_jpeg(payload, jpeg, 70 * 40 - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kCorruptData);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("70x40, more than 2799 pixels"));
}

/// Rewrites every checksum, so that damage gets as far as the code behind them.
void sign_again(std::vector<std::byte>& payload) {
  PayloadHead head;
  if (payload.size() < sizeof(payload::FixedHead)) return;
  const auto size = head_size(payload);
  if (!size || *size > payload.size()) return;
  const auto sign_head = [&] {
    const std::uint32_t sum = payload::checksum(std::span(payload).first(*size).subspan(4));
    std::memcpy(payload.data(), &sum, sizeof(sum));
  };
  sign_head();
  if (!parse_head(payload, head) || payload_size(head) > payload.size()) return;
  std::size_t entry = *size - std::size_t(head.mcu_rows) * sizeof(payload::RowEntry);
  for (int row = 0; row < head.mcu_rows; ++row, entry += sizeof(payload::RowEntry)) {
    const auto bytes = std::span(payload).subspan(
        head.row_offsets[std::size_t(row)],
        head.row_offsets[std::size_t(row) + 1] - head.row_offsets[std::size_t(row)]);
    const std::uint32_t sum = payload::checksum(bytes);
    std::memcpy(payload.data() + entry + offsetof(payload::RowEntry, checksum), &sum, sizeof(sum));
  }
  const PayloadRange range = markers_range(head);
  const std::uint32_t sum = payload::checksum(std::span(payload).subspan(range.offset, range.size));
  std::memcpy(payload.data() + offsetof(payload::FixedHead, markers_checksum), &sum, sizeof(sum));
  sign_head();
}

TEST(RestoreJpeg, SurvivesThousandsOfMutations) {
  std::mt19937 random(11);
  std::vector<std::vector<std::byte>> sound;
  for (const std::size_t sampling : {0U, 2U, 4U, 9U}) {
    JpegRecipe recipe;
    recipe.sampling = test::kSamplings[sampling];
    recipe.size = {70, 40};
    sound.push_back(test::encode(test::make_sampled_jpeg(recipe)));
  }
  int restored = 0;
  for (int round = 0; round < 8000; ++round) {
    std::vector<std::byte> payload = sound[std::size_t(round) % sound.size()];
    const auto flips = 1 + random() % 6;
    for (unsigned flip = 0; flip < flips; ++flip) {
      // Half of them in the head, of which there is less.
      const std::size_t end = flip % 2 == 0 ? payload.size() : std::size_t{300};
      payload[random() % end] = static_cast<std::byte>(random());
    }
    if (round % 10 == 0) payload.resize(random() % payload.size());
    // Sizes stay small, so that the time goes into many payloads.
    if (payload.size() > 16) payload[13] = payload[15] = std::byte{0};
    if (round % 8 != 0) sign_again(payload);
    payload.shrink_to_fit();
    std::vector<std::byte> jpeg;
    if (restore_jpeg(payload, jpeg)) ++restored;
  }
  // The checksums were right, so many get through to libjpeg; none of them may crash.
  EXPECT_GT(restored, 100);
}

}  // namespace
}  // namespace unstarve::feed
