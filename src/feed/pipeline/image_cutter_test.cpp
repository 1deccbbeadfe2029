#include "feed/pipeline/image_cutter.h"

#include <gtest/gtest.h>

#include <climits>
#include <fstream>
#include <iterator>
#include <vector>

#include "feed/pipeline/loader_parts.h"
#include "feed/pipeline/sample_loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/transform/draw_geometry.h"

namespace unstarve::feed {
namespace {

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> read(std::istreambuf_iterator<char>(file), {});
  const auto* first = reinterpret_cast<const std::byte*>(read.data());
  return {first, first + read.size()};
}

constexpr ImageSize kSize = {60, 90};  // of the folder's first image

SampleGeometry whole() {
  SampleGeometry geometry;
  geometry.crop = {0, 0, kSize.width, kSize.height};
  geometry.target = kSize;
  geometry.window = geometry.crop;
  return geometry;
}

class ImageCutterTest : public testing::Test {
 protected:
  Status cut(const SampleGeometry& geometry) {
    const Box& window = geometry.window;
    pixels_.assign(3 * static_cast<std::size_t>(std::max(window.width, 0)) *
                       static_cast<std::size_t>(std::max(window.height, 0)),
                   171);
    return cutter_.cut(file_, geometry, pixels_);
  }

  const test::JpegFolder folder_;
  std::vector<std::byte> file_ = bytes_of(folder_.path_of(0));
  ImageCutter cutter_{DecodeLimits{}};
  std::vector<std::uint8_t> pixels_;
};

TEST_F(ImageCutterTest, GivesWhatALoaderGivesThatHasDrawnTheSame) {
  LoaderOptions options = folder_.options();
  options.transform.geometry.horizontal_flip_probability = 0.5;
  for (const bool bicubic : {false, true}) {
    options.transform.geometry.interpolation =
        bicubic ? Interpolation::kBicubic : Interpolation::kBilinear;
    const auto loader = *SampleLoader::open(options, nullptr, LoaderParts::real());
    for (std::uint32_t image = 0; image < 10; ++image) {
      const std::string path = folder_.path_of(static_cast<int>(image)).string();
      std::vector<std::uint8_t> expected(loader->image_bytes());
      ASSERT_TRUE(loader->load({path, 3, image, 0}, expected));
      SampleRandom random({options.seed, 3, image, 0});
      const ImageSize size = {60 + 3 * static_cast<int>(image), 90 - static_cast<int>(image)};
      file_ = bytes_of(path);
      ASSERT_TRUE(cut(draw_geometry(options.transform.geometry, size, random))) << image;
      EXPECT_EQ(pixels_, expected) << image;
    }
  }
}

TEST_F(ImageCutterTest, LeavesBlackWhereTheWindowReachesPastTheTarget) {
  SampleGeometry geometry = whole();
  geometry.window = {-2, 0, 4, 2};
  ASSERT_TRUE(cut(geometry));
  const auto pixel = [this](std::size_t at) {
    return std::vector<std::uint8_t>(&pixels_[3 * at], &pixels_[3 * at + 3]);
  };
  EXPECT_EQ(pixel(0), (std::vector<std::uint8_t>{0, 0, 0}));
  EXPECT_NE(pixel(2), (std::vector<std::uint8_t>{0, 0, 0}));
}

TEST_F(ImageCutterTest, RefusesWhatIsNoPartOfAnImage) {
  const auto refuses = [this](auto change) {
    SampleGeometry geometry = whole();
    change(geometry);
    const Status status = cut(geometry);
    return !status && status.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.crop.x = 1; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.crop.x = -1; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.crop.width = 0; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.crop.height = INT_MAX; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.crop.y = INT_MIN; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.target.width = INT_MAX; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.target.height = -7; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.window.x = kSize.width; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.window.y = INT_MIN; }));
  EXPECT_TRUE(refuses([](SampleGeometry& geometry) { geometry.window.height = 0; }));
  std::vector<std::uint8_t> small(12);
  EXPECT_FALSE(cutter_.cut(file_, whole(), small)) << "other pixels than these";
  EXPECT_TRUE(cut(whole())) << "and goes on";
}

TEST_F(ImageCutterTest, RefusesFilesThatAreCutShortOrNone) {
  const std::vector<std::byte> file = file_;
  file_.resize(file.size() / 2);
  EXPECT_FALSE(cut(whole()));
  file_.assign(20, std::byte{7});
  EXPECT_FALSE(cut(whole()));
  file_ = file;
  EXPECT_TRUE(cut(whole()));
}

}  // namespace
}  // namespace unstarve::feed
