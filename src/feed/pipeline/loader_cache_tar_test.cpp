#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "base/testing/test_folder.h"
#include "feed/cache/testing/later_files.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"
#include "feed/source/testing/tar_bytes.h"

namespace unstarve::feed {
namespace {

constexpr unsigned kSamples = 13;

class LoaderCacheTarTest : public testing::Test {
 protected:
  LoaderCacheTarTest() { write_tar(0); }

  /// Pictures of the same sizes whatever the seed.
  void write_tar(unsigned seed) const {
    test::TarBytes tar;
    for (unsigned i = 0; i < kSamples; ++i) {
      const auto jpeg =
          test::make_jpeg(test::JpegKind::k420, 40 + static_cast<int>(i), 60, seed + i);
      tar.add(fmt::format("{:03}.jpg", i),
              {reinterpret_cast<const char*>(jpeg.data()), jpeg.size()});
      tar.add(fmt::format("{:03}.cls", i), std::to_string(i % 3));
    }
    std::ofstream(folder_.path() + "/train.tar", std::ios::binary) << tar.end();
  }

  LoaderOptions options(bool cached) const {
    LoaderOptions options = test::JpegFolder().options();
    options.root = folder_.path() + "/train.tar";
    options.keep_index = false;
    if (cached) options.cache_dir = cache_.path();
    return options;
  }

  /// Whether an epoch with the cache gives the batches of one without; what the cache did.
  CacheStats expect_same(std::uint32_t epoch) const {
    const auto plain = Loader::open(options(false));
    LoaderParts parts = LoaderParts::real();
    parts.cache_files = std::make_shared<test::LaterFiles>();
    auto cached = Loader::open(options(true), parts);
    EXPECT_TRUE(plain && cached);
    if (!plain || !cached) return {};
    const auto expected = test::run_epoch(**plain, epoch);
    const auto got = test::run_epoch(**cached, epoch);
    EXPECT_FALSE(expected.error || got.error);
    EXPECT_EQ(expected.hash, got.hash);
    return (*cached)->cache_stats();
  }

  TestFolder folder_;
  TestFolder cache_;
};

TEST_F(LoaderCacheTarTest, TheSecondEpochReadsCopiesWithTheSamePixels) {
  EXPECT_EQ(expect_same(0).hits, 0U);
  const CacheStats stats = expect_same(1);
  EXPECT_EQ(stats.hits, kSamples);
  EXPECT_EQ(stats.kept, 0U);
}

TEST_F(LoaderCacheTarTest, AnotherTarInItsPlaceGivesItsOwnPixels) {
  (void)expect_same(0);
  write_tar(100);
  EXPECT_EQ(expect_same(1).hits, 0U);
  EXPECT_EQ(expect_same(2).hits, kSamples);
}

}  // namespace
}  // namespace unstarve::feed
