#include "feed/pipeline/sample_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/testing/test_folder.h"
#include "feed/cache/testing/later_files.h"
#include "feed/pipeline/loader_parts.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"
#include "feed/source/list_source.h"

namespace unstarve::feed {
namespace {

using testing::HasSubstr;

constexpr std::uint8_t kUntouched = 171;
constexpr std::size_t kMargin = 256;

class SampleLoaderTest : public testing::Test {
 protected:
  std::unique_ptr<SampleLoader> open(const LoaderOptions& options) const {
    auto loader = SampleLoader::open(options, nullptr, parts_);
    EXPECT_TRUE(loader) << loader.error().message;
    return std::move(*loader);
  }
  Status load(SampleLoader& loader, int image, std::uint16_t repeat = 0) {
    const std::string path = folder_.path_of(image).string();
    pixels_.assign(loader.image_bytes() + kMargin, kUntouched);
    return loader.load({path, 3, static_cast<std::uint32_t>(image), repeat},
                       {pixels_.data(), loader.image_bytes()});
  }

  const test::JpegFolder folder_;
  const LoaderParts parts_ = LoaderParts::real();
  std::vector<std::uint8_t> pixels_;  // of the last image, and a margin
};

TEST_F(SampleLoaderTest, GivesWhatALoaderGivesForTheSameSample) {
  LoaderOptions options = folder_.options();
  options.batch_size = 3;
  options.seed = 17;
  const auto whole = *Loader::open(options);
  ASSERT_TRUE(whole->begin_submitted_epoch(3));
  const std::vector<std::uint64_t> indices = {5, 12, 5};
  ASSERT_TRUE(whole->submit_batch(indices));
  ASSERT_TRUE(whole->finish_submitting());
  const auto next = whole->next(std::chrono::minutes(1));
  ASSERT_TRUE(next && next->batch);
  const auto loader = open(options);
  ASSERT_EQ(loader->image_bytes(), next->batch->shape().image_bytes());
  for (int row = 0; row < 3; ++row) {
    const auto image = static_cast<int>(indices[static_cast<std::size_t>(row)]);
    ASSERT_TRUE(load(*loader, image, row == 2 ? 1 : 0));
    const std::uint8_t* const expected = next->batch->image(row);
    EXPECT_TRUE(std::equal(expected, expected + loader->image_bytes(), pixels_.begin())) << row;
    EXPECT_EQ(std::count(pixels_.end() - kMargin, pixels_.end(), kUntouched), kMargin);
  }
}

TEST_F(SampleLoaderTest, WritesNothingBehindTheImage) {
  for (int side = 1; side < 40; ++side) {
    for (const auto layout : {OutputPlan::Layout::kNhwc, OutputPlan::Layout::kNchw}) {
      LoaderOptions options = folder_.options();
      options.transform = training_crop(side);
      options.transform.output.layout = layout;
      const auto loader = open(options);
      ASSERT_TRUE(load(*loader, side % test::JpegFolder::kImages));
      EXPECT_EQ(std::count(pixels_.end() - kMargin, pixels_.end(), kUntouched), kMargin) << side;
    }
  }
}

TEST_F(SampleLoaderTest, AFailureNamesTheFileAndTheNextImageIsSound) {
  const auto loader = open(folder_.options());
  ASSERT_TRUE(load(*loader, 1));
  const std::vector<std::uint8_t> expected = pixels_;
  folder_.truncate(0);
  const Status truncated = load(*loader, 0);
  ASSERT_FALSE(truncated);
  EXPECT_EQ(truncated.error().code, ErrorCode::kCorruptData);
  EXPECT_THAT(truncated.error().message, HasSubstr(folder_.path_of(0).string()));
  std::filesystem::remove(folder_.path_of(2));
  const Status missing = load(*loader, 2);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(load(*loader, 1));
  EXPECT_EQ(pixels_, expected);
}

TEST_F(SampleLoaderTest, ACutFileIsBrokenWhateverItsCropNeeds) {
  LoaderOptions options = folder_.options();
  options.accept_damaged = true;
  const std::uintmax_t size = std::filesystem::file_size(folder_.path_of(0));
  for (const std::uintmax_t missing : {std::uintmax_t{2}, size / 20, size / 10, size / 4}) {
    std::filesystem::resize_file(folder_.path_of(0), size - missing);
    const auto loader = open(options);
    for (std::uint16_t repeat = 0; repeat < 40; ++repeat) {  // 40 crops
      const Status status = load(*loader, 0, repeat);
      ASSERT_FALSE(status) << missing << " bytes are missing";
      EXPECT_EQ(status.error().code, ErrorCode::kCorruptData);
      EXPECT_THAT(status.error().message, HasSubstr("cut short"));
    }
  }
}

TEST_F(SampleLoaderTest, KeepsCopiesOfTheSamplesOfAList) {
  constexpr std::size_t kListed = 5;
  LoaderParts parts = parts_;
  parts.cache_files = std::make_shared<test::LaterFiles>();
  ListSource::List files;
  std::vector<std::vector<std::uint8_t>> expected;
  const auto plain = open(folder_.options());
  for (std::size_t i = 0; i < kListed; ++i) {
    files.paths += folder_.path_of(static_cast<int>(i)).string() + '\0';
    files.labels.push_back(0);
    ASSERT_TRUE(load(*plain, static_cast<int>(i)));
    expected.push_back(pixels_);
  }
  const std::shared_ptr<SampleSource> list = *ListSource::open(std::move(files), parts.files);
  const TestFolder cache;
  LoaderOptions options = folder_.options();
  options.cache_dir = cache.path();
  for (int round = 0; round < 2; ++round) {
    const auto loader = *SampleLoader::open(options, list, parts);
    for (std::size_t i = 0; i < kListed; ++i) {
      ASSERT_TRUE(load(*loader, static_cast<int>(i))) << round;
      EXPECT_EQ(pixels_, expected[i]) << round;
    }
    EXPECT_FALSE(load(*loader, kListed)) << "not in the list";
  }
  // What each of them kept when it was closed, a Loader over the same list finds.
  const auto whole = *Loader::open(options, list, parts);
  EXPECT_FALSE(test::run_epoch(*whole, 0).error);
  EXPECT_EQ(whole->cache_stats().hits, kListed);
}

TEST_F(SampleLoaderTest, RefusesWhatMakesNoSense) {
  LoaderOptions options = folder_.options();
  const auto loader = open(options);
  const std::string path = folder_.path_of(0).string();
  std::vector<std::uint8_t> small(loader->image_bytes() - 1);
  const Status status = loader->load({path, 0, 0, 0}, small);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  options.transform.geometry.size = {0, 4};
  EXPECT_FALSE(SampleLoader::open(options, nullptr, parts_));
}

TEST_F(SampleLoaderTest, BytesThatWereReadAreTheFile) {
  const auto loader = open(folder_.options());
  for (const int image : {2, 0}) {
    ASSERT_TRUE(load(*loader, image));
    const std::vector<std::uint8_t> expected = pixels_;
    std::ifstream file(folder_.path_of(image), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const std::string name = "no such file";
    pixels_.assign(expected.size(), kUntouched);
    ASSERT_TRUE(loader->load(
        {name, 3, static_cast<std::uint32_t>(image), 0, std::as_bytes(std::span(bytes))},
        {pixels_.data(), loader->image_bytes()}));
    EXPECT_EQ(pixels_, expected);
  }
  const std::string name = "an image in memory";
  const std::string damaged = "no image";
  const Status status = loader->load({name, 0, 0, 0, std::as_bytes(std::span(damaged))},
                                     {pixels_.data(), loader->image_bytes()});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr(name));
  ASSERT_TRUE(load(*loader, 1)) << "the next one is a file again";
}

}  // namespace
}  // namespace unstarve::feed
