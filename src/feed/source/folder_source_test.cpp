#include "feed/source/folder_source.h"
#include "base/io/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/testing/test_folder.h"

namespace unstarve::feed {
namespace {

class FolderSourceTest : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path path = std::filesystem::path(folder_.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::shared_ptr<FolderSource> open(std::int64_t max_file_bytes = 1000) const {
    auto source = FolderSource::open({{folder_.path()}, max_file_bytes}, io::plain_files());
    EXPECT_TRUE(source) << source.error().message;
    return source ? *source : nullptr;
  }

  TestFolder folder_;
};

TEST_F(FolderSourceTest, ReadsEachFileAsItsBytes) {
  write("bees/1.jpg", "one");
  write("ants/2.jpeg", "two");
  const auto source = open();
  ASSERT_EQ(source->size(), 2U);
  EXPECT_THAT(source->classes(), testing::ElementsAre("ants", "bees"));
  EXPECT_EQ(source->locate(0), folder_.path() + "/ants/2.jpeg");
  EXPECT_EQ(source->label(1), 1);
  auto reader = *source->open_reader();
  const auto text = [&](std::uint64_t index) {
    const auto sample = reader->read(index);
    EXPECT_EQ(sample->form, SampleForm::kFile);
    return std::string(reinterpret_cast<const char*>(sample->bytes.data()), sample->bytes.size());
  };
  EXPECT_EQ(text(1), "one");
  EXPECT_EQ(text(0), "two");
}

TEST_F(FolderSourceTest, RefusesLargerFiles) {
  write("ants/1.jpg", "four");
  const auto source = open(3);
  auto reader = *source->open_reader();
  const auto sample = reader->read(0);
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().message, testing::HasSubstr("limit is 3"));
}

TEST_F(FolderSourceTest, SaysHowManyImagesAreLeftOut) {
  write("ants/1.jpg", "x");
  EXPECT_THAT(open()->left_out(), testing::ElementsAre());
  write("ants/2.ppm", "x");
  const FolderSource::Options options{{.root = folder_.path(), .skip_other_formats = true}, 1000};
  EXPECT_THAT((*FolderSource::open(options, io::plain_files()))->left_out(),
              testing::ElementsAre("images in formats that are not decoded here, left out: 1"));
}

TEST_F(FolderSourceTest, TheFingerprintIsThatOfTheNames) {
  write("ants/1.jpg", "x");
  const std::uint64_t before = open()->fingerprint();
  write("ants/1.jpg", "y");
  EXPECT_EQ(open()->fingerprint(), before);
  write("ants/2.jpg", "x");
  EXPECT_NE(open()->fingerprint(), before);
}

}  // namespace
}  // namespace unstarve::feed
