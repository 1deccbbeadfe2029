#include "base/ring/ring_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace unstarve {
namespace {

class RingNamesTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(ring_names_path(ring_)); }
  std::string ring_ = ::testing::TempDir() + "ring_names_" + std::to_string(::getpid()) + ".ring";
};

TEST_F(RingNamesTest, NamesKeepTheirNumbersAndAreReadWhileTheyGrow) {
  auto writer = RingNamesWriter::create(ring_);
  ASSERT_TRUE(writer);
  RingNamesReader reader(ring_);
  EXPECT_EQ(reader.name(0), "");
  EXPECT_EQ(writer->number_of("first"), 0U);
  EXPECT_EQ(writer->number_of("second"), 1U);
  EXPECT_EQ(writer->number_of("first"), 0U);
  EXPECT_EQ(reader.name(1), "second");
  EXPECT_EQ(reader.name(2), "");
  EXPECT_EQ(writer->number_of("third"), 2U);
  EXPECT_EQ(reader.name(2), "third");
  EXPECT_EQ(reader.name(RingNamesWriter::kNoName), "");
}

TEST_F(RingNamesTest, ALineHoldsOneNameWhateverIsInIt) {
  auto writer = RingNamesWriter::create(ring_);
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->number_of("two\nlines"), 0U);
  EXPECT_EQ(writer->number_of(std::string(10'000, 'x')), 1U);
  EXPECT_EQ(writer->number_of("after"), 2U);
  RingNamesReader reader(ring_);
  EXPECT_EQ(reader.name(0), "two?lines");
  EXPECT_EQ(reader.name(1).size(), 4096U);
  EXPECT_EQ(reader.name(2), "after");
}

TEST_F(RingNamesTest, HalfALineIsNoNameYet) {
  std::ofstream(ring_names_path(ring_)) << "whole\nha";
  RingNamesReader reader(ring_);
  EXPECT_EQ(reader.name(1), "");
  std::ofstream(ring_names_path(ring_), std::ios::app) << "lf\n";
  EXPECT_EQ(reader.name(1), "half");
}

}  // namespace
}  // namespace unstarve
