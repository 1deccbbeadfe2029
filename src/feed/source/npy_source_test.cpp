#include "feed/source/npy_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "base/testing/test_folder.h"
#include "feed/source/testing/npy_bytes.h"

namespace unstarve::feed {
namespace {

using test::npy_bytes;
using testing::HasSubstr;

class NpySourceTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string message(const std::string& bytes) const {
    write("a.npy", bytes);
    const auto source = NpySource::open(path("a.npy"));
    return source ? "opened" : source.error().message;
  }

  TestFolder folder_;
};

TEST_F(NpySourceTest, ARowIsASample) {
  write("a.npy", npy_bytes("<f4", "(3, 2)", "aaaaAAAAbbbbBBBBccccCCCC"));
  const auto source = *NpySource::open(path("a.npy"));
  ASSERT_EQ(source->size(), 3U);
  const auto reader = *source->open_reader();
  const auto sample = *reader->read(1);
  EXPECT_EQ(sample.form, SampleForm::kTensor);
  EXPECT_EQ(sample.image.width, 0);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(sample.bytes.data()), sample.bytes.size()),
            "bbbbBBBB");
  EXPECT_EQ(source->label(1), 0);
  EXPECT_EQ(source->locate(1), path("a.npy") + " at offset 136");
}

TEST_F(NpySourceTest, RowsOfUint8AreImages) {
  write("a.npy", npy_bytes("|u1", "(2, 5, 4, 3)", std::string(120, 'x')));
  const auto source = *NpySource::open(path("a.npy"));
  const auto sample = *(*source->open_reader())->read(0);
  EXPECT_EQ(sample.image.height, 5);
  EXPECT_EQ(sample.image.width, 4);
}

TEST_F(NpySourceTest, LabelsLieBeside) {
  write("a.npy", npy_bytes("|u1", "(3,)", "abc"));
  write("labels.npy", npy_bytes("<i2", "(3,)", std::string("\x01\x00\xff\xff\x00\x01", 6)));
  const auto source = *NpySource::open(path("a.npy"));
  EXPECT_EQ(source->label(0), 1);
  EXPECT_EQ(source->label(1), -1);
  EXPECT_EQ(source->label(2), 256);
  write("labels.npy", npy_bytes("<i2", "(2,)", "aabb"));
  const auto fewer = NpySource::open(path("a.npy"));
  ASSERT_FALSE(fewer);
  EXPECT_THAT(fewer.error().message, testing::AllOf(HasSubstr("labels.npy"), HasSubstr("3 whole")));
}

TEST_F(NpySourceTest, SaysWhatItCannotTake) {
  EXPECT_THAT(message("text"), HasSubstr("its start"));
  EXPECT_THAT(message(npy_bytes("<f4", "(1, 1)", "aaaa", "True")), HasSubstr("Fortran"));
  EXPECT_THAT(message(npy_bytes(">f4", "(1,)", "aaaa")), HasSubstr("big-endian"));
  EXPECT_THAT(message(npy_bytes("|O", "(1,)", "aaaa")), HasSubstr("type"));
  EXPECT_THAT(message(npy_bytes("<c8", "(1,)", "aaaaaaaa")), HasSubstr("'<c8'"));
  EXPECT_THAT(message(npy_bytes("<f4", "()", "aaaa")), HasSubstr("single value"));
  EXPECT_THAT(message(npy_bytes("<f4", "(2,)", "aaaa")),
              HasSubstr("has 8 bytes, the file holds 4"));
  EXPECT_THAT(message(npy_bytes("<f4", "(0, 4)", "")), HasSubstr("holds nothing"));
  EXPECT_THAT(message(npy_bytes("<f4", "(99999999999, 99999999999)", "")), HasSubstr("its size"));
}

TEST_F(NpySourceTest, NoMutationReachesPastTheFile) {
  const std::string sound = npy_bytes("<i4", "(4, 2)", std::string(32, 'x'));
  std::mt19937 random(5);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    std::string bytes = sound;
    for (unsigned change = 0; change < 1 + random() % 3; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (repeat % 5 == 0) bytes.resize(random() % bytes.size());
    write("a.npy", bytes);
    const auto source = NpySource::open(path("a.npy"));
    if (!source) continue;
    const auto reader = *(*source)->open_reader();
    for (std::uint64_t i = 0; i < (*source)->size(); ++i) ASSERT_TRUE(reader->read(i));
  }
}

}  // namespace
}  // namespace unstarve::feed
