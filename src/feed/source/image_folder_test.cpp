#include "feed/source/image_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/testing/test_folder.h"
#include "feed/formats/image_format.h"
#include "feed/source/index_cache.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ImageFolderTest : public testing::Test {
 protected:
  ImageFolderTest() : root_(folder_.path() + "/data"), cache_(folder_.path() + "/cache") {
    fs::create_directories(root_);
  }
  void write(const std::string& name) const {
    fs::create_directories((fs::path(root_) / name).parent_path());
    std::ofstream(fs::path(root_) / name) << "x";
  }
  /// Puts the times of all folders so far back that a kept list trusts them.
  void age(int seconds_ago = 100) const {
    set_time(root_, seconds_ago);
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (entry.is_directory()) set_time(entry.path(), seconds_ago);
    }
  }
  static void set_time(const fs::path& path, int seconds_ago) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds_ago));
  }
  ImageFolder::Options options() const {
    ImageFolder::Options options;
    options.root = root_;
    options.cache_folder = cache_;
    options.kept_from_files = 0;
    return options;
  }
  ImageFolder open() const {
    auto folder = ImageFolder::open(options());
    if (!folder) throw std::runtime_error(folder.error().message);
    return std::move(*folder);
  }
  std::vector<std::string> names(const ImageFolder& folder) const {
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < folder.size(); ++i) {
      names.push_back(
          fmt::format("{} {}", folder.path(i).substr(root_.size() + 1), folder.label(i)));
    }
    return names;
  }
  std::string message() const {
    const auto folder = ImageFolder::open(options());
    return folder ? "opened" : folder.error().message;
  }
  std::string cache_file() const { return IndexCache(cache_).path_of(fs::canonical(root_)); }

  TestFolder folder_;
  const std::string root_;
  const std::string cache_;
};

TEST_F(ImageFolderTest, IsInTorchvisionsOrder) {
  for (const char* name : {"b/2.jpg", "b/10.JPEG", "a/z/q/1.jpg", "a/y.jpg", "a/z-1/3.jpg",
                           "a/z/4.jpg", "a-b/1.jpg", "a/notes.txt", "beside.jpg"}) {
    write(name);
  }
  const ImageFolder folder = open();
  EXPECT_THAT(names(folder),
              ElementsAre("a/y.jpg 0", "a/z/4.jpg 0", "a/z-1/3.jpg 0", "a/z/q/1.jpg 0",
                          "a-b/1.jpg 1", "b/10.JPEG 2", "b/2.jpg 2"));
  EXPECT_THAT(folder.classes(), ElementsAre("a", "a-b", "b"));
}

TEST_F(ImageFolderTest, AFolderWithoutSubFoldersIsOneClass) {
  write("2.jpg");
  write("1.jpg");
  EXPECT_THAT(names(open()), ElementsAre("1.jpg 0", "2.jpg 0"));
  EXPECT_THAT(open().classes(), ElementsAre("."));
}

TEST_F(ImageFolderTest, LinksAreFollowed) {
  write("a/1.jpg");
  fs::create_directories(root_ + "/b");
  fs::create_symlink("../a/1.jpg", root_ + "/b/link.jpg");
  fs::create_directory_symlink("../a", root_ + "/b/deeper");
  EXPECT_THAT(names(open()), ElementsAre("a/1.jpg 0", "b/link.jpg 1", "b/deeper/1.jpg 1"));
}

TEST_F(ImageFolderTest, SaysWhatItCannotTake) {
  EXPECT_THAT(message(), HasSubstr("holds no image that is decoded here (" + image_format_names()));
  write("a/1.jpg");
  fs::create_directories(root_ + "/b");
  EXPECT_THAT(message(), HasSubstr(root_ + "/b holds no image"));
  write("b/2.ppm");
  write("b/1.ppm");
  EXPECT_THAT(message(), HasSubstr(root_ + "/b/1.ppm is of a format that is not decoded here"));
  fs::create_directory_symlink(".", root_ + "/b/cycle");
  EXPECT_THAT(message(), HasSubstr("cycle of links"));
}

TEST_F(ImageFolderTest, ACycleThroughManyLinksIsOneToo) {
  write("a/1.jpg");
  const std::string aside = folder_.path() + "/aside";
  fs::create_directory_symlink(".", aside);
  std::string detour = folder_.path();
  for (int i = 0; i < 15; ++i) detour += "/aside";
  fs::create_directory_symlink(detour + root_.substr(folder_.path().size()), root_ + "/a/cycle");
  EXPECT_THAT(message(), HasSubstr("behind too many links to be listed: is there a cycle"));
}

TEST_F(ImageFolderTest, SkipsOtherFormatsIfAsked) {
  write("a/1.jpg");
  write("a/2.ppm");
  write("a/3.ppm");
  ImageFolder::Options settings = options();
  settings.skip_other_formats = true;
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(ImageFolder::open(settings)->skipped(), 2U);
    age();
  }
}

TEST_F(ImageFolderTest, TheSecondTimeNothingIsListed) {
  for (const char* name : {"a/1.jpg", "a/deep/2.jpg", "b/3.jpg"}) write(name);
  age();
  const ImageFolder first = open();
  EXPECT_EQ(first.origin().folders_listed, 4U);
  const ImageFolder second = open();
  EXPECT_EQ(second.origin().folders_listed, 0U);
  EXPECT_EQ(second.origin().folders_known, 4U);
  EXPECT_EQ(names(second), names(first));
  EXPECT_EQ(second.fingerprint(), first.fingerprint());
}

TEST_F(ImageFolderTest, OnlyWhatChangedIsListedAgain) {
  for (const char* name : {"a/1.jpg", "b/2.jpg", "b/deep/3.jpg", "c/4.jpg"}) write(name);
  age();
  open();
  write("b/5.jpg");
  fs::remove(root_ + "/c/4.jpg");
  write("c/6.jpg");
  set_time(root_ + "/b", 50);
  set_time(root_ + "/c", 50);
  const ImageFolder folder = open();
  EXPECT_EQ(folder.origin().folders_listed, 2U);
  EXPECT_EQ(folder.origin().folders_known, 3U);
  EXPECT_THAT(names(folder),
              ElementsAre("a/1.jpg 0", "b/2.jpg 1", "b/5.jpg 1", "b/deep/3.jpg 1", "c/6.jpg 2"));
  ImageFolder::Options anew = options();
  anew.cache_folder.clear();
  EXPECT_EQ(ImageFolder::open(anew)->fingerprint(), folder.fingerprint());
}

TEST_F(ImageFolderTest, ClassesComeAndGo) {
  for (const char* name : {"b/1.jpg", "c/2.jpg"}) write(name);
  age();
  open();
  write("a/3.jpg");
  fs::remove_all(root_ + "/c");
  age(50);
  EXPECT_THAT(names(open()), ElementsAre("a/3.jpg 0", "b/1.jpg 1"));
  age(40);
  fs::remove_all(root_ + "/a");
  fs::remove_all(root_ + "/b");
  write("4.jpg");
  EXPECT_THAT(names(open()), ElementsAre("4.jpg 0"));
}

TEST_F(ImageFolderTest, WhatChangedJustBeforeIsNotTrusted) {
  write("a/1.jpg");
  age();
  write("a/2.jpg");  // now: a third file may come within the same tick
  open();
  const struct stat before = [&] {
    struct stat status = {};
    ::stat((root_ + "/a").c_str(), &status);
    return status;
  }();
  write("a/3.jpg");
  const std::array<timespec, 2> same = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (root_ + "/a").c_str(), same.data(), 0), 0);
  EXPECT_EQ(open().size(), 3U) << "though the folder's time has not moved";
}

TEST_F(ImageFolderTest, ShortListsAreNotKept) {
  write("a/1.jpg");
  ImageFolder::Options settings = options();
  settings.kept_from_files = 2;
  ASSERT_TRUE(ImageFolder::open(settings));
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(ImageFolderTest, ACacheThatCannotBeWrittenIsNoError) {
  write("a/1.jpg");
  std::ofstream(cache_) << "a file where the folder should be";
  const ImageFolder folder = open();
  EXPECT_EQ(folder.size(), 1U);
  EXPECT_FALSE(folder.origin().not_kept.empty());
}

TEST_F(ImageFolderTest, DamagedIndexesAreMadeAnew) {
  for (const char* name : {"a/1.jpg", "b/2.jpg", "b/deep/3.jpg"}) write(name);
  age();
  const std::vector<std::string> expected = names(open());
  std::ifstream file(cache_file(), std::ios::binary);
  const std::string sound((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(sound.empty());
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::string damaged = sound;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    if (repeat % 4 == 0) damaged.resize(random() % damaged.size());
    if (repeat % 4 == 1) damaged.append(1 + random() % 64, 'x');
    std::ofstream(cache_file(), std::ios::binary) << damaged;
    const ImageFolder folder = open();
    ASSERT_EQ(folder.origin().folders_known, 0U) << "damage went unseen";
    ASSERT_EQ(names(folder), expected);
  }
}

TEST_F(ImageFolderTest, AKeptListThatIsCutShortInUseEndsNothing) {
  for (const char* name : {"a/1.jpg", "b/2.jpg", "b/deep/3.jpg"}) write(name);
  age();
  const ImageFolder folder = open();
  std::ifstream maps("/proc/self/maps");
  const std::string mapped((std::istreambuf_iterator<char>(maps)), {});
  EXPECT_EQ(mapped.find(fs::path(cache_file()).filename().string()), std::string::npos)
      << "a list in use counts as memory of this process";

  const auto size = fs::file_size(cache_file());
  fs::resize_file(cache_file(), 0);
  EXPECT_EQ(folder.path(2), root_ + "/") << "no file at all is better than another";
  EXPECT_EQ(folder.label(2), 1);
  std::ofstream(cache_file(), std::ios::binary) << std::string(size, '\xff');
  for (std::uint64_t i = 0; i < folder.size(); ++i) EXPECT_GE(folder.path(i).size(), root_.size());
}

}  // namespace
}  // namespace unstarve::feed
