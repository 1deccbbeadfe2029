#include "emulated/engine/kept_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace unstarve::emulated {
namespace {

std::string read(const KeptBytes& kept, std::uintptr_t address, std::size_t bytes) {
  std::string text(bytes, '?');
  kept.read(address, text.data(), bytes);
  for (char& letter : text) letter = letter == '\0' ? '.' : letter;
  return text;
}

TEST(KeptBytes, GivesBackWhatACopyPutThere) {
  KeptBytes kept;
  kept.write(100, "abcdef", 6);
  EXPECT_EQ(read(kept, 98, 10), "..abcdef..");
  EXPECT_EQ(read(kept, 102, 2), "cd");
}

TEST(KeptBytes, ALaterCopyReplacesAPart) {
  KeptBytes kept;
  kept.write(100, "abcdef", 6);
  kept.write(102, "XY", 2);
  kept.fill(105, 'z', 3);
  EXPECT_EQ(read(kept, 100, 8), "abXYezzz");
  kept.fill(101, 0, 2);
  EXPECT_EQ(read(kept, 100, 8), "a..Yezzz");
}

TEST(KeptBytes, WhatIsLargeIsZeros) {
  KeptBytes kept;
  kept.write(0, "abc", 3);
  const std::string large(5000, 'x');
  kept.write(0, large.data(), large.size());
  EXPECT_TRUE(kept.empty());
  kept.set_limits({.bytes_max = 5000, .launches = 0});
  kept.write(0, large.data(), large.size());
  EXPECT_EQ(read(kept, 4998, 4), "xx..");
}

TEST(KeptBytes, AKernelMakesAllOfThemZeros) {
  KeptBytes kept;
  kept.write(100, "abc", 3);
  kept.forget_all();
  EXPECT_TRUE(kept.empty());
}

TEST(KeptBytes, OneThatTalksWithOthersKeepsThemForSomeKernels) {
  KeptBytes kept;
  kept.set_limits({.bytes_max = 4096, .launches = 2});
  kept.write(100, "abc", 3);
  kept.forget_all();
  kept.write(200, "def", 3);
  kept.forget_all();
  EXPECT_EQ(read(kept, 100, 3), "abc");
  kept.forget_all();
  EXPECT_EQ(read(kept, 100, 3), "...");
  EXPECT_EQ(read(kept, 200, 3), "def");
  kept.forget_all();
  EXPECT_TRUE(kept.empty());
}

TEST(KeptBytes, BytesThatComeLateComeWhereTheyWereCopiedToo) {
  KeptBytes kept;
  const auto late = std::make_shared<std::vector<unsigned char>>(4);
  kept.write(100, late);
  kept.copy(200, 101, 3);
  EXPECT_EQ(read(kept, 200, 3), "...");
  const std::vector<KeptPiece> pieces = kept.pieces(199, 6);
  *late = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(read(kept, 200, 3), "bcd");
  EXPECT_EQ(bytes_of(pieces, 6), (std::vector<unsigned char>{0, 'b', 'c', 'd', 0, 0}));
}

TEST(KeptBytes, WhatIsWrittenToIsForgottenAsAWhole) {
  KeptBytes kept;
  kept.write(100, "abc", 3);
  kept.write(200, "def", 3);
  kept.forget_at({102, 203});
  EXPECT_EQ(read(kept, 100, 3), "...");
  EXPECT_EQ(read(kept, 200, 3), "def");
}

TEST(KeptBytes, TheOldestAreForgottenFirst) {
  KeptBytes kept;
  for (std::uintptr_t i = 0; i <= KeptBytes::kRangesMax; ++i) kept.write(100 * i, "a", 1);
  EXPECT_EQ(read(kept, 0, 1), ".");
  EXPECT_EQ(read(kept, 100, 1), "a");
}

}  // namespace
}  // namespace unstarve::emulated
