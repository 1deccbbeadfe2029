#include "feed/source/arrow/arrow_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/testing/test_folder.h"
#include "feed/source/arrow/testing/made_stream.h"

namespace unstarve::feed {
namespace {

using std::nullopt;
using std::string_literals::operator""s;

// Files of these formats, as far as it matters here.
const std::string kUpright = "\xFF\xD8\xFF\xDA and so on"s;
const std::string kTurned =
    "\xFF\xD8\xFF\xE1\x00\x22"
    "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\xFF\xDA"s;

std::shared_ptr<ArrowSource> source_of(const std::vector<std::optional<std::string>>& bytes,
                                       const std::vector<std::optional<std::string>>& paths,
                                       bool only_rgb = false) {
  test::MadeStream made({test::made_chunk(bytes, paths)});
  auto column = ImageColumn::open(made.stream);
  EXPECT_TRUE(column) << column.error().message;
  auto source = ArrowSource::open(std::make_shared<ImageColumn>(*std::move(column)),
                                  io::plain_files(), only_rgb);
  EXPECT_TRUE(source) << source.error().message;
  return *source;
}

ErrorCode code_of(SampleReader& reader, std::uint64_t index) {
  const auto sample = reader.read(index);
  EXPECT_FALSE(sample);
  return sample ? ErrorCode::kCancelled : sample.error().code;
}

std::string text(const Result<EncodedSample>& sample) {
  if (!sample) return sample.error().message;
  return {reinterpret_cast<const char*>(sample->bytes.data()), sample->bytes.size()};
}

TEST(ArrowSource, ReadsBytesOrElseTheFileAtThePath) {
  const TestFolder folder;
  const std::string path = folder.path() + "/one.jpg";
  std::ofstream(path) << kUpright;
  // The path beside bytes is a name: nothing need lie there.
  const auto source = source_of({"bytes", nullopt, nullopt}, {"gone.jpg", path, folder.path()});
  ASSERT_EQ(source->size(), 3U);
  const auto reader = *source->open_reader();
  EXPECT_EQ(text(reader->read(0)), "bytes");
  EXPECT_EQ(text(reader->read(1)), kUpright);
  EXPECT_FALSE(reader->read(2));  // a folder
  EXPECT_EQ(source->locate(1), "row 1 of the column of images");
}

TEST(ArrowSource, LeavesToOthersWhatIsNoImageHere) {
  const auto source =
      source_of({nullopt, nullopt, nullopt}, {nullopt, "https://host/one.jpg", "a\0b"s});
  const auto reader = *source->open_reader();
  EXPECT_EQ(code_of(*reader, 0), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(*reader, 1), ErrorCode::kNotSupported);
  EXPECT_EQ(code_of(*reader, 2), ErrorCode::kNotSupported);
}

TEST(ArrowSource, LeavesToOthersWhatIsToBeTurned) {
  const TestFolder folder;
  const std::string path = folder.path() + "/one.jpg";
  std::ofstream(path) << kTurned;
  const auto source = source_of({kTurned, nullopt, kUpright}, {nullopt, path, nullopt});
  const auto reader = *source->open_reader();
  EXPECT_EQ(code_of(*reader, 0), ErrorCode::kNotSupported);
  EXPECT_EQ(code_of(*reader, 1), ErrorCode::kNotSupported);
  EXPECT_EQ(text(reader->read(2)), kUpright);
}

TEST(ArrowSource, LeavesOtherColoursToOthersWhereItIsAsked) {
  // A frame of so many components; no EXIF before the pixels.
  const auto frame = [](char components) {
    return "\xFF\xD8\xFF\xC0\x00\x08\x08\0\x10\0\x10"s + components + "\xFF\xDA\0\x02"s;
  };
  for (const bool only_rgb : {false, true}) {
    const auto source = source_of({frame(3), frame(1)}, {nullopt, nullopt}, only_rgb);
    const auto reader = *source->open_reader();
    EXPECT_TRUE(reader->read(0));
    EXPECT_EQ(reader->read(1).has_value(), !only_rgb);
  }
}

TEST(ArrowSource, AColumnWithoutRowsIsRefused) {
  test::MadeStream made({});
  auto column = ImageColumn::open(made.stream);
  ASSERT_TRUE(column);
  EXPECT_FALSE(
      ArrowSource::open(std::make_shared<ImageColumn>(*std::move(column)), io::plain_files()));
}

}  // namespace
}  // namespace unstarve::feed
