#include "feed/source/arrow/image_column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "feed/source/arrow/testing/made_stream.h"

namespace unstarve::feed {
namespace {

using std::nullopt;
using test::made_bytes;
using test::made_chunk;
using test::MadeChunk;
using test::MadeStream;
using ::testing::HasSubstr;

/// A row as "bytes|path", "-" for what is null.
std::string words(const ImageColumn& column, std::uint64_t row) {
  const auto found = column.at(row);
  if (!found) return found.error().message;
  std::string said = "-";
  if (found->bytes) {
    said.assign(reinterpret_cast<const char*>(found->bytes->data()), found->bytes->size());
  }
  return said + "|" + std::string(found->path.value_or("-"));
}

TEST(ImageColumn, HasTheRowsOfAllChunks) {
  MadeStream made({made_chunk({"one", nullopt}, {"a", "b"}), made_chunk({}, {}),
                   made_chunk({"", "four", nullopt}, {nullopt, "", nullopt})});
  const auto column = ImageColumn::open(made.stream);
  ASSERT_TRUE(column) << column.error().message;
  ASSERT_EQ(column->size(), 5U);
  EXPECT_EQ(words(*column, 0), "one|a");
  EXPECT_EQ(words(*column, 1), "-|b");
  EXPECT_EQ(words(*column, 2), "|-");
  EXPECT_EQ(words(*column, 3), "four|");
  EXPECT_EQ(words(*column, 4), "-|-");
  EXPECT_THAT(words(*column, 5), HasSubstr("row 5 of 5"));
}

TEST(ImageColumn, CountsTheOffsetsOfEveryLevel) {
  MadeChunk chunk =
      made_chunk({"0", "1", "2", "3", "4", "5", "6"}, {"a", "b", "c", "d", "e", "f", "g"});
  chunk.table.offset = 1;  // each is counted from where its parent begins
  chunk.table.length = 2;
  chunk.column.offset = 2;
  chunk.column.length = 3;
  chunk.bytes.offset = 1;
  chunk.bytes.length = 6;
  MadeStream made({chunk});
  const auto column = ImageColumn::open(made.stream);
  ASSERT_TRUE(column) << column.error().message;
  ASSERT_EQ(column->size(), 2U);
  EXPECT_EQ(words(*column, 0), "4|d");
  EXPECT_EQ(words(*column, 1), "5|e");
}

TEST(ImageColumn, NullsOfTheStructAndOfTheTableAreRowsWithoutAnImage) {
  MadeChunk chunk = made_chunk({"0", "1", "2", "3"}, {"a", "b", "c", "d"});
  chunk.column.validity = {{0b1101}};
  chunk.table.validity = {{0b0111}};
  MadeStream made({chunk});
  const auto column = ImageColumn::open(made.stream);
  ASSERT_TRUE(column);
  EXPECT_EQ(words(*column, 0), "0|a");
  EXPECT_EQ(words(*column, 1), "-|-");
  EXPECT_EQ(words(*column, 2), "2|c");
  EXPECT_EQ(words(*column, 3), "-|-");
}

TEST(ImageColumn, ReadsOffsetsOf64Bits) {
  MadeChunk chunk = made_chunk({"one", "two"}, {nullopt, "b"});
  chunk.bytes.is_large = chunk.path.is_large = true;
  MadeStream made({chunk});
  made.format = "Z";
  const auto column = ImageColumn::open(made.stream);
  ASSERT_TRUE(column) << column.error().message;
  EXPECT_EQ(words(*column, 0), "one|-");
  EXPECT_EQ(words(*column, 1), "two|b");
}

TEST(ImageColumn, KeepsTheArraysAsLongAsItLives) {
  MadeStream made({made_chunk({"one"}, {"a"}), made_chunk({"two"}, {"b"})});
  {
    const auto column = ImageColumn::open(made.stream);
    ASSERT_TRUE(column);
    EXPECT_EQ(*made.alive, 2);
    EXPECT_EQ(words(*column, 1), "two|b");
  }
  EXPECT_EQ(*made.alive, 0);
}

TEST(ImageColumn, RefusesArraysThatDoNotFitTogether) {
  const std::function<void(MadeChunk&)> kLies[] = {
      [](MadeChunk& chunk) { chunk.table.length = 4; },
      [](MadeChunk& chunk) { chunk.table.length = -1; },
      [](MadeChunk& chunk) { chunk.table.offset = 1; },
      [](MadeChunk& chunk) { chunk.column.offset = -1; },
      [](MadeChunk& chunk) { chunk.column.offset = 1; },
      [](MadeChunk& chunk) { chunk.bytes.length = 2; },
      [](MadeChunk& chunk) { chunk.path.length = 0; },
      [](MadeChunk& chunk) { chunk.bytes.offsets[0] = -1; },
      [](MadeChunk& chunk) { chunk.bytes.offsets[3] = -9; },
  };
  for (const auto& lie : kLies) {
    MadeChunk chunk = made_chunk({"one", "two", "three"}, {"a", "b", "c"});
    lie(chunk);
    MadeStream made({chunk});
    const auto column = ImageColumn::open(made.stream);
    ASSERT_FALSE(column);
    EXPECT_EQ(column.error().code, ErrorCode::kCorruptData);
    EXPECT_EQ(*made.alive, 0);
  }
}

TEST(ImageColumn, OffsetsThatGoBackOrPastTheEndAreErrorsOfTheirRows) {
  MadeChunk chunk = made_chunk({"one", "two", "three", "four"}, {"a", "b", "c", "d"});
  chunk.bytes.offsets = {0, 5, 3, 90, 15};
  MadeStream made({chunk});
  const auto column = ImageColumn::open(made.stream);
  ASSERT_TRUE(column) << column.error().message;
  EXPECT_EQ(words(*column, 0), "onetw|a");
  for (const std::uint64_t row : {1U, 2U, 3U}) {
    const auto found = column->at(row);
    ASSERT_FALSE(found) << row;
    EXPECT_EQ(found.error().code, ErrorCode::kCorruptData);
    EXPECT_THAT(found.error().message, HasSubstr("those of its array to 15"));
  }
}

TEST(ImageColumn, RefusesOtherTypes) {
  for (const auto& [format, column] : {std::pair("i", "+s"), {"z", "z"}, {"vz", "+s"}}) {
    MadeStream made({made_chunk({"one"}, {"a"})});
    made.format = format;
    made.column = column;
    const auto opened = ImageColumn::open(made.stream);
    ASSERT_FALSE(opened) << format << column;
    EXPECT_EQ(opened.error().code, ErrorCode::kNotSupported);
  }
}

TEST(ImageColumn, SaysWhatTheProducerSays) {
  MadeStream made({made_chunk({"one"}, {"a"}), made_chunk({"two"}, {"b"})});
  made.fails_at = 1;
  const auto column = ImageColumn::open(made.stream);
  ASSERT_FALSE(column);
  EXPECT_EQ(column.error().code, ErrorCode::kIo);
  EXPECT_THAT(column.error().message, HasSubstr("the disk is full"));
  EXPECT_EQ(*made.alive, 0);
}

TEST(ImageColumn, TheFingerprintIsThatOfItsSizes) {
  const auto print = [](const MadeChunk& chunk) {
    MadeStream made({chunk});
    return ImageColumn::open(made.stream)->fingerprint();
  };
  EXPECT_EQ(print(made_chunk({"one"}, {"a"})), print(made_chunk({"two"}, {"a"})));
  EXPECT_NE(print(made_chunk({"one"}, {"a"})), print(made_chunk({"four"}, {"a"})));
  EXPECT_NE(print(made_chunk({"one"}, {"a"})), print(made_chunk({"o", "ne"}, {"a", "b"})));
}

}  // namespace
}  // namespace unstarve::feed
