#include "demo/demo_images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/testing/test_folder.h"
#include "feed/jpeg/libjpeg/jpeg_decoder.h"

namespace unstarve::demo {
namespace {

namespace fs = std::filesystem;

constexpr int kCount = 120;

std::vector<std::string> photos() {
  std::vector<std::string> found;
  for (const auto& entry :
       fs::directory_iterator(fs::path(UNSTARVE_SOURCE_DIR) / "tests/data/photos")) {
    if (entry.path().extension() == ".jpg") found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DemoImages, AllDifferAndAreSizedAsImageNets) {
  const TestFolder folder;
  const auto made = make_demo_images(photos(), folder.path(), kCount);
  ASSERT_TRUE(made) << made.error().message;
  auto decoder = feed::JpegDecoder::create({});
  std::set<std::string> different;
  double pixels = 0;
  for (const std::string& file : made->files) {
    const std::string bytes = content(file);
    const auto size = decoder->open(std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(size) << file;
    pixels += static_cast<double>(size->width) * size->height;
    different.insert(bytes);
  }
  EXPECT_EQ(different.size(), kCount);
  // ImageNet's training files have 110 KB and some 400 x 350 to 500 x 375 pixels in the mean.
  EXPECT_GT(static_cast<double>(made->bytes) / kCount, 80e3);
  EXPECT_LT(static_cast<double>(made->bytes) / kCount, 130e3);
  EXPECT_GT(pixels / kCount, 140e3);
  EXPECT_LT(pixels / kCount, 220e3);
}

TEST(DemoImages, AreTheSameEveryTime) {
  const TestFolder first;
  const TestFolder second;
  const auto once = make_demo_images(photos(), first.path(), 70);
  const auto again = make_demo_images(photos(), second.path(), 70);
  ASSERT_TRUE(once && again);
  for (std::size_t i = 0; i < once->files.size(); ++i) {
    ASSERT_EQ(fs::path(once->files[i]).filename(), fs::path(again->files[i]).filename());
    ASSERT_EQ(content(once->files[i]), content(again->files[i])) << once->files[i];
  }
}

TEST(DemoImages, NameThePhotographThatCannotBeRead) {
  const TestFolder folder;
  const std::string missing = folder.path() + "/none.jpg";
  const auto made = make_demo_images({missing}, folder.path() + "/out", 2);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find(missing), std::string::npos) << made.error().message;
  EXPECT_FALSE(make_demo_images({}, folder.path(), 2));
}

}  // namespace
}  // namespace unstarve::demo
