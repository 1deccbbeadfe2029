#include "feed/formats/colour_mode.h"

#include <gtest/gtest.h>

#include <string>

#include "feed/formats/image_format.h"

namespace unstarve::feed {
namespace {

using std::string_literals::operator""s;

std::span<const std::byte> content(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string jpeg_of(char marker, char bits, char components) {
  const std::string before = "\xFF\xD8\xFF\xE0\0\x04xx\xFF\xFF"s;
  return before + marker + "\0\x0A"s + bits + "\0\x10\0\x10"s + components;
}

std::string png_of(char colour_type) {
  return "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\x10\0\0\0\x10\x08"s + colour_type + "\0\0\0"s;
}

std::string webp_of(const std::string& kind, char last_of_sizes) {
  return "RIFF\0\0\0\0WEBP"s + kind + "\x0A\0\0\0\x2F\0\0\0"s + last_of_sizes + "pixels"s;
}

TEST(ColourMode, OfJpegsIsThatOfTheirFrame) {
  EXPECT_TRUE(is_rgb_image(content(jpeg_of('\xC0', 8, 3))));
  EXPECT_TRUE(is_rgb_image(content(jpeg_of('\xC2', 8, 3))));
  EXPECT_FALSE(is_rgb_image(content(jpeg_of('\xC0', 8, 1))));
  EXPECT_FALSE(is_rgb_image(content(jpeg_of('\xC0', 8, 4))));
  EXPECT_FALSE(is_rgb_image(content(jpeg_of('\xC1', 12, 3))));
  EXPECT_FALSE(is_rgb_image(content(jpeg_of('\xC4', 8, 3)))) << "tables";
  EXPECT_FALSE(is_rgb_image(content(jpeg_of('\xDA', 8, 3)))) << "pixels";
}

TEST(ColourMode, OfPngsIsInTheirHeader) {
  for (const char type : {'\0', '\3', '\4', '\6'}) {
    EXPECT_FALSE(is_rgb_image(content(png_of(type)))) << int{type};
  }
  EXPECT_TRUE(is_rgb_image(content(png_of('\2'))));
}

TEST(ColourMode, OfWebpsIsRgbWithoutTransparency) {
  EXPECT_TRUE(is_rgb_image(content(webp_of("VP8 ", 0x10))));
  EXPECT_TRUE(is_rgb_image(content(webp_of("VP8L", 0x0F))));
  EXPECT_FALSE(is_rgb_image(content(webp_of("VP8L", 0x1F))));
  EXPECT_FALSE(is_rgb_image(content(webp_of("VP8X", 0x00))));
}

TEST(ColourMode, NobodyCanTellOfWhatIsCutOrUnknown) {
  const std::string whole = jpeg_of('\xC0', 8, 3);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(is_rgb_image(content(whole.substr(0, size)))) << size;
  }
  EXPECT_FALSE(is_rgb_image(content(png_of('\2').substr(0, 25))));
  EXPECT_FALSE(is_rgb_image(content(webp_of("VP8L", 0).substr(0, 24))));
  EXPECT_FALSE(is_rgb_image(content("BM and so on"s)));
  EXPECT_FALSE(is_rgb_image({}));
}

}  // namespace
}  // namespace unstarve::feed
