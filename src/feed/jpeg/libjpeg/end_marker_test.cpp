#include "feed/jpeg/libjpeg/end_marker.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "feed/testing/made_jpeg.h"

namespace unstarve::feed {
namespace {

using Bytes = std::vector<std::byte>;
using test::JpegKind;

constexpr JpegKind kKinds[] = {JpegKind::k420,  JpegKind::k422,         JpegKind::k444,
                               JpegKind::kGrey, JpegKind::kProgressive, JpegKind::kCmyk};

Bytes followed_by(Bytes bytes, std::size_t count, std::byte value) {
  bytes.insert(bytes.end(), count, value);
  return bytes;
}

/// `jpeg` with `inner` in an APP1 segment, where cameras put a thumbnail.
Bytes with_thumbnail(const Bytes& jpeg, const Bytes& inner) {
  const std::size_t length = inner.size() + 2;
  Bytes bytes(jpeg.begin(), jpeg.begin() + 2);
  for (const std::size_t byte :
       {std::size_t{0xFF}, std::size_t{0xE1}, length >> 8, length & 0xFF}) {
    bytes.push_back(static_cast<std::byte>(byte));
  }
  bytes.insert(bytes.end(), inner.begin(), inner.end());
  bytes.insert(bytes.end(), jpeg.begin() + 2, jpeg.end());
  return bytes;
}

TEST(JpegEnd, EveryCutIsFound) {
  for (const JpegKind kind : kKinds) {
    const Bytes jpeg = test::make_jpeg(kind, 60, 40);
    EXPECT_TRUE(reaches_end_marker(jpeg));
    for (std::size_t size = 4; size < jpeg.size(); ++size) {
      EXPECT_FALSE(reaches_end_marker(std::span(jpeg).first(size))) << size;
    }
  }
}

TEST(JpegEnd, WhatFollowsTheEndDoesNotMatter) {
  for (const JpegKind kind : kKinds) {
    const Bytes jpeg = test::make_jpeg(kind, 60, 40);
    for (const int value : {0x00, 0x5A, 0xFF, 0xD9}) {
      EXPECT_TRUE(reaches_end_marker(followed_by(jpeg, 100, static_cast<std::byte>(value))));
    }
    const Bytes cut(jpeg.begin(), jpeg.end() - 2);
    EXPECT_FALSE(reaches_end_marker(followed_by(cut, 100, std::byte{0})));
    EXPECT_FALSE(reaches_end_marker(followed_by(cut, 100, std::byte{0xFF})));
  }
}

TEST(JpegEnd, AThumbnailsEndIsNotTheImages) {
  const Bytes inner = test::make_jpeg(JpegKind::k420, 24, 16);
  const Bytes jpeg = with_thumbnail(test::make_jpeg(JpegKind::k444, 60, 40), inner);
  EXPECT_TRUE(reaches_end_marker(followed_by(jpeg, 3, std::byte{0})));
  const std::size_t behind_the_thumbnail = 6 + inner.size();
  for (std::size_t size = behind_the_thumbnail + 1; size < jpeg.size(); ++size) {
    EXPECT_FALSE(reaches_end_marker(std::span(jpeg).first(size))) << size;
  }
}

TEST(JpegEnd, WhatIsNoJpegPasses) {
  for (const std::string_view text : {"", "\xFF", "\xFF\xD8", "\x89PNG\r\n", "not a JPEG"}) {
    EXPECT_TRUE(reaches_end_marker(std::as_bytes(std::span(text))));
  }
}

}  // namespace
}  // namespace unstarve::feed
