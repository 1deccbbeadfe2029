#include "feed/source/zip/zip_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/test_folder.h"
#include "feed/source/zip/testing/made_zip.h"

namespace unstarve::feed {
namespace {

using test::made_zip;
using test::ZipFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Zip : public ::testing::Test {
 protected:
  Result<std::shared_ptr<ZipSource>> open(const std::string& bytes, bool skip_others = false) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return ZipSource::open({.path = path_, .skip_other_formats = skip_others});
  }
  std::string message(const std::string& bytes) {
    const auto source = open(bytes);
    return source ? "" : source.error().message;
  }
  static std::string content(ZipSource& source, std::uint64_t index) {
    const auto reader = source.open_reader();
    const auto sample = (*reader)->read(index);
    if (!sample) return "error: " + sample.error().message;
    return {reinterpret_cast<const char*>(sample->bytes.data()), sample->bytes.size()};
  }

  TestFolder folder_;
  std::string path_ = folder_.path() + "/a.zip";
};

TEST_F(Zip, FilesAreReadWhereTheyLieStoredOrDeflated) {
  const std::string many(100'000, 'm');
  const auto source =
      open(made_zip({{"b.jpg", many, true}, {"notes.txt", "-"}, {"a.JPG", "ab"}, {"c.jpg", ""}},
                    "a comment with PK\x05\x06 in it"));
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_EQ((*source)->size(), 3U);
  EXPECT_EQ(content(**source, 0), "ab");
  EXPECT_EQ(content(**source, 1), many);
  EXPECT_EQ(content(**source, 2), "");
  EXPECT_EQ((*source)->locate(1), path_ + "/b.jpg");
  EXPECT_THAT((*source)->classes(), IsEmpty());
}

TEST_F(Zip, AClassIsTheFirstFolderThatNotAllShare) {
  const auto source = open(made_zip({{"t/", ""},
                                     {"t/dog/x/1.jpg", "1"},
                                     {"t/cat/2.jpg", "2"},
                                     {"t/cats/3.jpg", "3"},
                                     {"__MACOSX/t/dog/._1.jpg", "-"}}));
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_THAT((*source)->classes(), ElementsAre("cat", "cats", "dog"));
  ASSERT_EQ((*source)->size(), 3U);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ((*source)->label(std::uint64_t(i)), i);
  EXPECT_THAT(message(made_zip({{"1.jpg", ""}, {"cat/2.jpg", ""}})), HasSubstr("1.jpg does"));
}

TEST_F(Zip, WhatIsNotDecodedIsRefusedOrLeftOut) {
  const std::string bytes = made_zip({{"a.jpg", ""}, {"b.ppm", ""}});
  EXPECT_THAT(message(bytes), HasSubstr("b.ppm is of a format"));
  EXPECT_THAT((*open(bytes, true))->left_out(), ElementsAre(HasSubstr("left out: 1")));
  EXPECT_THAT(message(made_zip({{"a.txt", ""}})), HasSubstr("holds no image"));
  const auto locked = open(made_zip({{"a.jpg", "a", false, 1}}));
  EXPECT_EQ(content(**locked, 0), "error: it is encrypted");
}

TEST_F(Zip, AZipThatWasCutIsRefusedWhereverThatWas) {
  const std::string whole = made_zip({{"a.jpg", "abc"}, {"b.jpg", "def", true}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(message(whole.substr(0, size)), HasSubstr(path_)) << size;
  }
}

TEST_F(Zip, DamageIsAnErrorOfTheSampleOrOfTheZip) {
  const std::string whole = made_zip({{"a.jpg", "abc"}, {"b.jpg", std::string(5000, 'b'), true}});
  std::string bytes = whole;
  bytes[whole.find("b.jpgxyz") + 12] ^= 0x55;  // within what is deflated
  auto source = open(bytes);
  ASSERT_TRUE(source);
  EXPECT_EQ(content(**source, 0), "abc");
  EXPECT_THAT(content(**source, 1), HasSubstr("error: it cannot be inflated"));
  bytes = whole;
  bytes[0] = 'X';
  source = open(bytes);
  ASSERT_TRUE(source);
  EXPECT_THAT(content(**source, 0), HasSubstr("error: the zip holds no file at offset 0"));
  bytes = whole;
  bytes[whole.find("PK\x01\x02")] = 'X';
  EXPECT_THAT(message(bytes), HasSubstr("its directory is not where its end says"));
}

TEST_F(Zip, OtherContentHasAnotherFingerprint) {
  const auto source = open(made_zip({{"a.jpg", "abc"}}));
  const auto fingerprint = (*source)->fingerprint();
  EXPECT_EQ((*open(made_zip({{"a.jpg", "abc"}})))->fingerprint(), fingerprint);
  EXPECT_NE((*open(made_zip({{"a.jpg", "abd"}})))->fingerprint(), fingerprint);
  EXPECT_NE((*open(made_zip({{"b.jpg", "abc"}})))->fingerprint(), fingerprint);
}

}  // namespace
}  // namespace unstarve::feed
