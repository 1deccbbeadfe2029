#include "feed/source/list_source.h"
#include "base/io/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/test_folder.h"

namespace unstarve::feed {
namespace {

using std::string_literals::operator""s;

std::shared_ptr<ListSource> open(std::string paths, std::vector<std::int64_t> labels) {
  auto source = ListSource::open({std::move(paths), std::move(labels)}, io::plain_files());
  EXPECT_TRUE(source) << source.error().message;
  return source ? *source : nullptr;
}

TEST(ListSource, ReadsWhatTheListSaysInItsOrder) {
  const TestFolder folder;
  for (const char* name : {"one", "two"}) std::ofstream(folder.path() + "/" + name) << name;
  const std::string two = folder.path() + "/two\0"s;
  const auto source = open(two + folder.path() + "/one\0"s + two, {7, -1, 3});
  ASSERT_EQ(source->size(), 3U);
  EXPECT_EQ(source->label(0), 7);
  EXPECT_EQ(source->label(1), -1);
  EXPECT_EQ(source->label(2), 3);
  EXPECT_EQ(source->locate(1), folder.path() + "/one");
  auto reader = *source->open_reader();
  for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{2}}) {
    const auto sample = reader->read(index);
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->form, SampleForm::kFile);
    EXPECT_EQ(sample->bytes.size(), 3U);
  }
}

TEST(ListSource, KeepsPathsOfAnyShape) {
  const auto source = open("a/b\0a/b/c\0a\0"s, {0, 1, 2});
  EXPECT_EQ(source->locate(0), "a/b");
  EXPECT_EQ(source->locate(1), "a/b/c");
  EXPECT_EQ(source->locate(2), "a");
  EXPECT_EQ(open("same\0same\0"s, {0, 0})->locate(1), "same");
  EXPECT_EQ(open("only\0"s, {0})->locate(0), "only");
  EXPECT_EQ(open("\0x\0"s, {0, 1})->locate(0), "");
}

TEST(ListSource, RefusesListsThatDoNotMatch) {
  const auto files = io::plain_files();
  EXPECT_FALSE(ListSource::open({"", {}}, files));
  EXPECT_FALSE(ListSource::open({"a\0"s, {0, 1}}, files));
  EXPECT_FALSE(ListSource::open({"a\0b"s, {0}}, files));
}

TEST(ListSource, TheFingerprintIsThatOfPathsAndLabels) {
  const std::uint64_t print = open("a\0b\0"s, {0, 1})->fingerprint();
  EXPECT_EQ(open("a\0b\0"s, {0, 1})->fingerprint(), print);
  EXPECT_NE(open("b\0a\0"s, {0, 1})->fingerprint(), print);
  EXPECT_NE(open("a\0b\0"s, {1, 0})->fingerprint(), print);
}

}  // namespace
}  // namespace unstarve::feed
