#include "report/words/foreign_words.h"

#include <gtest/gtest.h>

namespace unstarve::report {
namespace {

using trace::ForeignFile;

TEST(ForeignWords, EveryKindHasWordsThatNameTheFileAndWhatToDo) {
  const std::string name = "gpu's log.csv";
  for (int kind = 0; kind <= static_cast<int>(ForeignFile::kBinary); ++kind) {
    const std::string words = foreign_words(static_cast<ForeignFile>(kind), name);
    EXPECT_EQ(words.find(name + " is "), 0U) << words;
    const std::size_t advice = words.find(": ");
    ASSERT_NE(advice, words.npos) << words;
    EXPECT_GT(advice, name.size() + 5) << words;
    EXPECT_GT(words.size(), advice + 10) << words;
    EXPECT_EQ(words.find("{}"), words.npos) << words;
  }
}

TEST(ForeignWords, ACommandHasTheFileAsOneWord) {
  const std::string words = foreign_words(ForeignFile::kUtf16, "my log.csv");
  EXPECT_NE(words.find("iconv -f UTF-16 -t UTF-8 'my log.csv' >"), words.npos) << words;
  EXPECT_NE(words.find("Get-Content 'my log.csv'"), words.npos) << words;
}

}  // namespace
}  // namespace unstarve::report
