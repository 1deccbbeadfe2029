#include "feed/cache/cache_folder.h"
#include "base/io/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/testing/test_folder.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::uint64_t kSamples = 5;

CacheEntry entry_of(std::uint64_t offset) {
  CacheEntry entry;
  entry.offset = offset;
  entry.size = 100;
  entry.state = static_cast<std::uint16_t>(CacheState::kKept);
  return entry;
}

class CacheFolderTest : public testing::Test {
 protected:
  std::unique_ptr<CacheFolder> open(std::uint64_t key = 1) const {
    auto folder = CacheFolder::open(io::plain_files(), folder_.path(), {key, kSamples});
    EXPECT_TRUE(folder) << folder.error().message;
    return folder ? std::move(*folder) : nullptr;
  }
  static std::string bytes_of(const CacheFolder& folder) {
    std::ifstream file(folder.path() + "/slots", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void put(const CacheFolder& folder, const std::string& bytes) {
    std::ofstream(folder.path() + "/slots", std::ios::binary) << bytes;
  }

  TestFolder folder_;
};

TEST_F(CacheFolderTest, AnEntryIsFoundAgain) {
  ASSERT_TRUE(open()->write_entry(3, entry_of(64)));
  const auto folder = open();
  ASSERT_TRUE(folder->entry(3));
  EXPECT_EQ(folder->entry(3)->offset, 64U);
  EXPECT_FALSE(folder->entry(2));
}

TEST_F(CacheFolderTest, AnEntryInAnothersPlaceIsNone) {
  const auto folder = open();
  ASSERT_TRUE(folder->write_entry(1, entry_of(64)));
  ASSERT_TRUE(folder->write_entry(2, entry_of(128)));
  std::string bytes = bytes_of(*folder);
  constexpr std::size_t kFirst = sizeof(CacheHeader) + sizeof(CacheEntry);
  bytes.replace(kFirst, sizeof(CacheEntry), bytes.substr(kFirst + sizeof(CacheEntry), 64));
  put(*folder, bytes);
  EXPECT_FALSE(folder->entry(1));
  EXPECT_TRUE(folder->entry(2));
}

TEST_F(CacheFolderTest, AnotherDataSetsEntriesAreNone) {
  const auto other = open(2);
  ASSERT_TRUE(other->write_entry(1, entry_of(64)));
  const auto folder = open(1);
  put(*folder, bytes_of(*other));
  EXPECT_FALSE(open(1)->entry(1));
}

TEST_F(CacheFolderTest, AFileOfAnotherLengthIsMadeAsLongAsItMustBe) {
  const auto folder = open();
  ASSERT_TRUE(folder->write_entry(1, entry_of(64)));
  const std::string sound = bytes_of(*folder);
  for (const std::string& bytes : {sound + "more", sound.substr(0, 70), std::string()}) {
    put(*folder, bytes);
    EXPECT_EQ(open()->entry(1).has_value(), bytes.size() > sound.size());
    EXPECT_EQ(bytes_of(*folder).size(), sound.size());
  }
}

TEST_F(CacheFolderTest, AnotherVersionIsRefusedAndLeftAsItIs) {
  const std::string path = open()->path();
  CacheHeader header;
  header.version = kCacheVersion + 1;
  seal(header);
  const std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  std::ofstream(path + "/slots", std::ios::binary) << bytes << std::string(10'000, 'x');
  const auto folder = CacheFolder::open(io::plain_files(), folder_.path(), {1, kSamples});
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("format version 2"));
  EXPECT_THAT(folder.error().message, HasSubstr(path));
  EXPECT_EQ(fs::file_size(path + "/slots"), 10'064U);
}

}  // namespace
}  // namespace unstarve::feed
