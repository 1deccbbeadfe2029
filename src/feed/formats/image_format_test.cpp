#include "feed/formats/image_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "feed/bmp/testing/made_bmp.h"
#include "feed/testing/collected_rows.h"
#include "feed/testing/made_jpeg.h"

namespace unstarve::feed {
namespace {

using ::testing::HasSubstr;

TEST(ImageFormats, EachIsWhole) {
  std::set<std::string> endings;
  for (const ImageFormatKind& format : image_formats()) {
    EXPECT_FALSE(format.endings.empty()) << format.name;
    for (const std::string& ending : format.endings) {
      EXPECT_EQ(ending.front(), '.') << format.name;
      EXPECT_TRUE(endings.insert(ending).second) << ending << " is of two formats";
    }
    EXPECT_FALSE(format.begins({})) << format.name;
    const auto made = format.make({});
    ASSERT_TRUE(made) << format.name;
    EXPECT_FALSE((*made)->decoders().empty()) << format.name;
  }
}

TEST(ImageFormats, NamesDoNotDependOnTheirLetters) {
  EXPECT_EQ(kind_of_name("a/b.jpg"), NameKind::kImage);
  EXPECT_EQ(kind_of_name("B.JPeG"), NameKind::kImage);
  EXPECT_EQ(kind_of_name("c.bmp"), NameKind::kImage);
  EXPECT_EQ(kind_of_name("c.PNG"), NameKind::kImage);
  EXPECT_EQ(kind_of_name("c.PPM"), NameKind::kOtherImage);
  EXPECT_EQ(kind_of_name("c.gif"), NameKind::kNoImage) << "torchvision passes it over";
  EXPECT_EQ(kind_of_name("jpg"), NameKind::kNoImage);
  EXPECT_EQ(kind_of_name(""), NameKind::kNoImage);
}

TEST(FileFormats, AFileIsWhatItHoldsWhateverItsName) {
  FileFormats formats({});
  const auto bmp = formats.find(test::made_bmp({}));
  const auto jpeg = formats.find(test::make_jpeg(test::JpegKind::k420, 20, 10));
  ASSERT_TRUE(bmp && jpeg);
  EXPECT_NE(*bmp, *jpeg);
  EXPECT_EQ(*formats.find(test::made_bmp({})), *bmp);  // it is kept
}

TEST(FileFormats, WhatIsNoneOfThemIsRefusedWithTheirNames) {
  FileFormats formats({});
  const std::string ppm = "P6 and so on";
  const auto found = formats.find(std::as_bytes(std::span(ppm)));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNotSupported);
  EXPECT_THAT(found.error().message, HasSubstr("(" + image_format_names() + ")"));
  EXPECT_THAT(formats.find({}).error().message, HasSubstr("an empty file"));
}

}  // namespace
}  // namespace unstarve::feed
