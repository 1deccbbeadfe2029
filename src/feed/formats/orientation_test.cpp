#include "feed/formats/orientation.h"

#include <gtest/gtest.h>

#include <string>

#include "feed/formats/image_format.h"

namespace unstarve::feed {
namespace {

using std::string_literals::operator""s;

std::span<const std::byte> bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// An EXIF block, big-endian, that says nothing but the orientation.
std::string exif(char orientation) {
  return "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"s + orientation + "\0\0"s;
}

std::string segment(const std::string& held) {
  return "\xFF\xE1\0"s + static_cast<char>(held.size() + 2) + held;
}
std::string jpeg(const std::string& segments) {
  return "\xFF\xD8"s + segments + "\xFF\xDA\0\x02 pixels"s;
}

std::string chunk(const std::string& kind, const std::string& held) {
  return "\0\0\0"s + static_cast<char>(held.size()) + kind + held + "sum."s;
}
std::string png(const std::string& chunks) {
  return "\x89PNG\r\n\x1A\n"s + chunk("IHDR", "header") + chunks + chunk("IEND", "");
}

std::string webp(const std::string& kind, char flags) {
  return "RIFF\0\0\0\0WEBP"s + kind + "\x0A\0\0\0"s + flags + "and so on"s;
}

TEST(Orientation, OfExif) {
  EXPECT_FALSE(exif_may_turn(bytes(exif(1))));
  EXPECT_TRUE(exif_may_turn(bytes(exif(6))));
  const std::string little = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"s;
  EXPECT_FALSE(exif_may_turn(bytes(little + "\x01\0\0\0"s)));
  EXPECT_TRUE(exif_may_turn(bytes(little + "\x03\0\0\0"s)));
  const std::string without = "MM\0*\0\0\0\x08\0\0"s;
  EXPECT_FALSE(exif_may_turn(bytes(without)));
}

TEST(Orientation, WhatCannotBeReadMayTurn) {
  const std::string upright = exif(1);
  for (std::size_t size = 0; size < upright.size(); ++size) {
    EXPECT_TRUE(exif_may_turn(bytes(upright.substr(0, size)))) << size;
  }
  std::string of_type_long = upright;
  of_type_long[13] = 4;
  EXPECT_TRUE(exif_may_turn(bytes(of_type_long)));
  EXPECT_TRUE(exif_may_turn(bytes("XX" + upright.substr(2))));
  EXPECT_TRUE(exif_may_turn(bytes("MM\0*\xFF\xFF\xFF\xFF\0\0"s)));
}

TEST(Orientation, OfJpegs) {
  const std::string head = "Exif\0\0"s;
  const std::string xmp = "http://ns.adobe.com/xap/1.0/\0<x "s;
  EXPECT_FALSE(may_be_turned(bytes(jpeg(""))));
  EXPECT_FALSE(may_be_turned(bytes(jpeg("\xFF" + segment(head + exif(1))))));
  EXPECT_TRUE(may_be_turned(bytes(jpeg(segment(head + exif(8))))));
  EXPECT_TRUE(may_be_turned(bytes(jpeg(segment(head + exif(1)) + segment(head + exif(1))))));
  EXPECT_FALSE(may_be_turned(bytes(jpeg(segment(xmp + "Make='1'/>")))));
  EXPECT_TRUE(may_be_turned(bytes(jpeg(segment(xmp + "tiff:Orientation='1'/>")))));
  EXPECT_FALSE(may_be_turned(bytes(jpeg(segment("other")))));
  // Damage, an end before the pixels.
  EXPECT_TRUE(may_be_turned(bytes("\xFF\xD8\xFF\xE1\0\x01pixels"s)));
  EXPECT_TRUE(may_be_turned(bytes("\xFF\xD8\xFF\xE1\xFF\xFFpixels"s)));
  EXPECT_TRUE(may_be_turned(bytes("\xFF\xD8"s + segment("other"))));
}

TEST(Orientation, OfPngs) {
  EXPECT_FALSE(may_be_turned(bytes(png(""))));
  EXPECT_FALSE(may_be_turned(bytes(png(chunk("eXIf", exif(1)) + chunk("tEXt", "Title\0x"s)))));
  EXPECT_TRUE(may_be_turned(bytes(png(chunk("eXIf", exif(3))))));
  EXPECT_TRUE(may_be_turned(bytes(png(chunk("zTXt", "Raw profile type exif\0x"s)))));
  EXPECT_TRUE(may_be_turned(bytes(png(chunk("iTXt", "XML:com.adobe.xmp\0x"s)))));
  const std::string whole = png("");
  EXPECT_TRUE(may_be_turned(bytes(whole.substr(0, whole.size() - 1))));
}

TEST(Orientation, OfOtherFiles) {
  EXPECT_FALSE(may_be_turned(bytes(webp("VP8 ", 0x0C))));
  EXPECT_FALSE(may_be_turned(bytes(webp("VP8X", 0x10))));
  EXPECT_TRUE(may_be_turned(bytes(webp("VP8X", 0x08))));
  EXPECT_TRUE(may_be_turned(bytes(webp("VP8X", 0x04))));
  EXPECT_FALSE(may_be_turned(bytes("BM and so on"s)));
  EXPECT_FALSE(may_be_turned(bytes("GIF89a"s)));
  EXPECT_FALSE(may_be_turned({}));
}

}  // namespace
}  // namespace unstarve::feed
