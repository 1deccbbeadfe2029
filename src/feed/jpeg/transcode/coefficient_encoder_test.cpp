#include "feed/jpeg/transcode/coefficient_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>  // jpeglib.h needs FILE

#include <jpeglib.h>

#include "feed/jpeg/payload/payload.h"
#include "feed/jpeg/testing/sampled_jpeg.h"
#include "feed/testing/made_jpeg.h"

namespace unstarve::feed {
namespace {

using test::JpegKind;
using test::JpegRecipe;

TEST(EncodeJpeg, KeepsEveryCoefficientOfEverySamplingAndSize) {
  for (const test::Sampling& sampling : test::kSamplings) {
    for (const ImageSize size : test::kSizes) {
      JpegRecipe recipe;
      recipe.sampling = sampling;
      recipe.size = size;
      SCOPED_TRACE(test::describe(recipe));
      const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
      EXPECT_EQ(test::coefficients_of_payload(test::encode(jpeg)),
                test::coefficients_of_jpeg(jpeg));
    }
  }
}

TEST(EncodeJpeg, KeepsCoefficientsOfProgressiveRestartedAndHighQualityFiles) {
  for (int variant = 0; variant < 8; ++variant) {
    JpegRecipe recipe;
    recipe.size = {203, 77};
    recipe.progressive = (variant & 1) != 0;
    recipe.restart_interval = (variant & 2) != 0 ? 3 : 0;
    recipe.quality = (variant & 4) != 0 ? 100 : 20;
    SCOPED_TRACE(test::describe(recipe));
    const std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
    EXPECT_EQ(test::coefficients_of_payload(test::encode(jpeg)), test::coefficients_of_jpeg(jpeg));
  }
}

TEST(EncodeJpeg, RefusesWhatItCannotRepresent) {
  CoefficientEncoder encoder = *CoefficientEncoder::create({});
  std::vector<std::byte> payload;
  const auto code_of = [&](std::span<const std::byte> jpeg) {
    const Status status = encoder.encode(jpeg, payload);
    return status ? std::string("none") : std::string(to_string(status.error().code));
  };
  const std::vector<std::byte> jpeg = test::make_jpeg(JpegKind::k420, 100, 60);
  EXPECT_EQ(code_of(jpeg), "none");
  EXPECT_EQ(code_of(test::make_jpeg(JpegKind::kCmyk, 100, 60)), "not_supported");
  EXPECT_EQ(code_of({}), "not_supported");
  EXPECT_EQ(code_of(std::span(jpeg).first(jpeg.size() / 2)), "not_supported");
  std::vector<std::byte> twelve_bits = jpeg;
  test::patch_precision(twelve_bits, 12);
  EXPECT_EQ(code_of(twelve_bits), "not_supported");
  EXPECT_THAT(encoder.encode(twelve_bits, payload).error().message,
              testing::HasSubstr("12 bits per sample"));
  // The encoder is as good as new after every refusal.
  EXPECT_EQ(code_of(jpeg), "none");
}

TEST(EncodeJpeg, NeverUsesTheTablesOfTheFileBefore) {
  for (const int tables : {0xDB, 0xC4}) {
    CoefficientEncoder encoder = *CoefficientEncoder::create({});
    std::vector<std::byte> payload;
    ASSERT_TRUE(encoder.encode(test::make_jpeg(JpegKind::kProgressive, 50, 40), payload));
    std::vector<std::byte> jpeg = test::make_jpeg(JpegKind::kProgressive, 50, 40, 2);
    test::remove_segments(jpeg, tables);
    EXPECT_FALSE(encoder.encode(jpeg, payload)) << tables;
  }
}

TEST(EncodeJpeg, RefusesAProgressiveFileWithoutItsLastScan) {
  JpegRecipe recipe;
  recipe.progressive = true;
  recipe.size = {64, 64};
  std::vector<std::byte> jpeg = test::make_sampled_jpeg(recipe);
  test::drop_last_scan(jpeg);
  CoefficientEncoder encoder = *CoefficientEncoder::create({});
  std::vector<std::byte> payload;
  const Status status = encoder.encode(jpeg, payload);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("without its last scans"));
}

TEST(EncodeJpeg, RefusesTooManyPixels) {
  CoefficientEncoder encoder = *CoefficientEncoder::create({.max_pixels = 5999});
  std::vector<std::byte> payload;
  const Status status = encoder.encode(test::make_jpeg(JpegKind::k420, 100, 60), payload);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace unstarve::feed
