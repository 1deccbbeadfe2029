#include "base/ring/mapped_ring.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace unstarve {
namespace {

class MappedRing : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() /
             ("unstarve_ring_" + std::to_string(::getpid()) + ".ring"))
                .string();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static void append(RingWriter& ring, std::uint64_t value) {
    ring.append(std::as_bytes(std::span(&value, 1)));
  }
  static std::vector<std::uint64_t> drain(RingReader& ring) {
    std::vector<std::uint64_t> values;
    const auto drained = ring.drain([&](std::span<const std::byte> record) {
      std::uint64_t value = 0;
      std::memcpy(&value, record.data(), sizeof(value));
      values.push_back(value);
    });
    EXPECT_TRUE(drained.has_value());
    return values;
  }

  const RingOptions options_{.record_size = 8, .capacity = 8, .created_ns = 5};
  std::string path_;
};

TEST_F(MappedRing, ReaderFollowsWriter) {
  auto writer = RingWriter::create(path_, options_);
  ASSERT_TRUE(writer.has_value());
  auto reader = RingReader::open(path_);
  ASSERT_TRUE(reader.has_value());
  append(*writer, 1);
  append(*writer, 2);
  EXPECT_EQ(drain(*reader), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(drain(*reader).empty());
  for (std::uint64_t i = 3; i < 9; ++i) append(*writer, i);
  EXPECT_EQ(drain(*reader), (std::vector<std::uint64_t>{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(reader->lost(), 0U);
  EXPECT_EQ(reader->created_ns(), 5);
}

TEST_F(MappedRing, AWriterIsGoneWhenNobodyMapsTheFileAnyMore) {
  auto reader = [this] {
    const auto writer = RingWriter::create(path_, options_);
    EXPECT_TRUE(writer.has_value());
    auto opened = RingReader::open(path_);
    EXPECT_TRUE(opened.has_value());
    EXPECT_FALSE(opened->writer_is_gone());
    return std::move(*opened);
  }();
  EXPECT_TRUE(reader.writer_is_gone());
}

TEST_F(MappedRing, OverwrittenRecordsAreCountedAsLost) {
  auto writer = RingWriter::create(path_, options_);
  ASSERT_TRUE(writer.has_value());
  auto reader = RingReader::open(path_);
  ASSERT_TRUE(reader.has_value());
  for (std::uint64_t i = 0; i < 20; ++i) append(*writer, i);
  EXPECT_EQ(drain(*reader), (std::vector<std::uint64_t>{13, 14, 15, 16, 17, 18, 19}));
  EXPECT_EQ(reader->lost(), 13U);
}

// A ring is read in pieces of 4096 records. While the first is handed out, the writer comes around
// and goes on into the second.
TEST_F(MappedRing, WhatTheWriterReachesDuringADrainIsLost) {
  RingOptions options = options_;
  options.capacity = 8192;
  auto writer = RingWriter::create(path_, options);
  ASSERT_TRUE(writer.has_value());
  auto reader = RingReader::open(path_);
  ASSERT_TRUE(reader.has_value());
  for (std::uint64_t i = 0; i < 8192; ++i) append(*writer, i);
  std::vector<std::uint64_t> values;
  ASSERT_TRUE(reader->drain([&](std::span<const std::byte> record) {
    if (values.empty()) {
      for (std::uint64_t i = 8192; i < 8192 + 4100; ++i) append(*writer, i);
    }
    std::memcpy(&values.emplace_back(), record.data(), sizeof(std::uint64_t));
  }));
  // The slot of record 0 was the next to be written, now that of record 4100 is.
  ASSERT_EQ(values.size(), 8192U - 5);
  EXPECT_EQ(values[0], 1U);
  EXPECT_EQ(values[4095], 4096U);
  EXPECT_EQ(values[4096], 4101U);
  EXPECT_EQ(values.back(), 8191U);
  EXPECT_EQ(reader->lost(), 5U);
}

TEST_F(MappedRing, OutlivesItsWriterAndKeepsItsText) {
  {
    auto writer = RingWriter::create(path_, options_);
    ASSERT_TRUE(writer.has_value());
    append(*writer, 42);
    ASSERT_TRUE(writer->set_text(R"({"a":1})").has_value());
    EXPECT_FALSE(writer->set_text(std::string(5000, 'x')).has_value());
  }
  auto reader = RingReader::open(path_);
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(drain(*reader), std::vector<std::uint64_t>{42});
  EXPECT_EQ(reader->text().value(), R"({"a":1})");
  EXPECT_EQ(reader->writer_pid(), static_cast<std::uint64_t>(::getpid()));
}

TEST_F(MappedRing, DamagedFilesAreErrors) {
  EXPECT_EQ(RingReader::open(path_).error().code, ErrorCode::kNotFound);
  std::ofstream(path_) << "UNSTRING";
  EXPECT_EQ(RingReader::open(path_).error().code, ErrorCode::kCorruptData);
  std::ofstream(path_) << std::string(8192, 'x');
  EXPECT_EQ(RingReader::open(path_).error().code, ErrorCode::kCorruptData);
  {
    auto writer = RingWriter::create(path_, options_);
    ASSERT_TRUE(writer.has_value());
    append(*writer, 1);
  }
  std::filesystem::resize_file(path_, 4096 + 4);
  auto reader = RingReader::open(path_);
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(reader->drain([](std::span<const std::byte>) {}).error().code, ErrorCode::kCorruptData);
}

}  // namespace
}  // namespace unstarve
