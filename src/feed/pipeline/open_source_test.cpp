#include "feed/opening/open_source.h"
#include "base/io/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/test_folder.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/shard/testing/shard_set.h"

namespace unstarve::feed {
namespace {

std::string message(const std::string& root) {
  LoaderOptions options;
  options.root = root;
  options.keep_index = false;
  const auto source = open_source(options, io::plain_files());
  return source ? fmt::format("{} samples", (*source)->size()) : source.error().message;
}

TEST(OpenSource, GoesByTheName) {
  const test::JpegFolder images;
  EXPECT_EQ(message(images.options().root), fmt::format("{} samples", test::JpegFolder::kImages));
  EXPECT_THAT(message(""), testing::HasSubstr("root is empty"));
  const TestFolder folder;
  std::ofstream(folder.path() + "/broken.tar") << std::string(512, 'x');
  EXPECT_THAT(message(folder.path()), testing::HasSubstr("not a sound tar"));
  EXPECT_THAT(message(folder.path() + "/broken.tar"), testing::HasSubstr("not a sound tar"));
  EXPECT_THAT(message(folder.path() + "/none-{00..10}.tar"), testing::HasSubstr("none-00.tar"));
  EXPECT_THAT(message(folder.path() + "/none.npy"), testing::HasSubstr("none.npy: cannot open"));
}

TEST(OpenSource, ACutShardIsNoShorterDataSet) {
  const TestFolder folder;
  ASSERT_TRUE(test::write_set(test::quick_files(), test::small_set(folder.path()), 25));
  EXPECT_EQ(message(folder.path()), "25 samples");
  const std::string shard = folder.path() + "/samples-00000.ush";
  EXPECT_THAT(message(shard), testing::EndsWith(" samples"));
  std::filesystem::resize_file(shard, std::filesystem::file_size(shard) - 1);
  EXPECT_THAT(message(shard), testing::HasSubstr(shard + " is cut off"));
}

TEST(OpenSource, AnArrayOfImagesIsLoaded) {
  const TestFolder folder;
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 40, 50, 3), }";
  header.resize(117, ' ');
  header.push_back('\n');
  std::ofstream(folder.path() + "/a.npy", std::ios::binary)
      << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header
      << std::string(4 * 40 * 50 * 3, 'x');
  LoaderOptions options = test::JpegFolder().options();
  options.root = folder.path() + "/a.npy";
  auto loader = Loader::open(options);
  ASSERT_TRUE(loader) << loader.error().message;
  ASSERT_TRUE((*loader)->begin_epoch(0));
  const auto next = (*loader)->next(std::chrono::minutes(1));
  ASSERT_TRUE(next && next->batch) << next.error().message;
  EXPECT_EQ(next->batch->count, 4);
  EXPECT_EQ(next->batch->image(3)[0], 'x') << "a flat image stays flat";
}

}  // namespace
}  // namespace unstarve::feed
