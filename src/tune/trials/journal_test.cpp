#include "tune/trials/journal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace unstarve::tune {
namespace {

namespace fs = std::filesystem;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("journal." + std::to_string(::getpid()) + "." +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string folder() const { return folder_.string(); }
  std::string text() const {
    std::ifstream file(folder_ / "journal.jsonl", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& text) const {
    std::ofstream(folder_ / "journal.jsonl", std::ios::binary) << text;
  }
  void make_two() const {
    auto journal = Journal::create(folder(), head());
    ASSERT_TRUE(journal.has_value());
    ASSERT_TRUE(journal->add("baseline", result()).has_value());
    ASSERT_TRUE(journal->add("threads=1", result()).has_value());
  }

  static JournalHead head() {
    return {{"python", "train.py"}, {"batch=--b"}, {"threads"}, 3.5, 20, "a100"};
  }
  static TrialResult result() {
    TrialResult made;
    made.steps_s = {0.01, 0.02};
    made.mean_step_s = 0.015;
    made.losses = {2.5, std::nan("")};
    made.rows = {4, 4};
    made.steps_of_each = {3, 2};
    made.shares = {.compute = 0.5, .launches = 0.25, .memory = 0.1, .loading = 0.05};
    made.why = "bytes \xff and \n";
    made.why_not = {{"compile", "no compiler"}};
    made.constructed = {{"DataLoader.batch_size", {8, "", "train.py:4"}},
                        {"DataLoader.num_workers", {0, "a stream", ""}}};
    made.peak_memory_bytes = 1 << 30;
    return made;
  }

 private:
  fs::path folder_;
};

TEST_F(JournalTest, GivesBackWhatWasWritten) {
  make_two();
  const auto journal = Journal::open(folder());
  ASSERT_TRUE(journal.has_value()) << journal.error().message;
  EXPECT_EQ(journal->head().command, head().command);
  EXPECT_EQ(journal->head().only, head().only);
  EXPECT_EQ(journal->head().gpu, "a100");
  EXPECT_EQ(journal->trials(), 2U);
  const TrialResult* const read = journal->find("threads=1");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->steps_s, result().steps_s);
  EXPECT_EQ(read->steps_of_each, result().steps_of_each);
  EXPECT_EQ(read->shares.compute, 0.5);
  EXPECT_EQ(read->shares.launches, 0.25);
  EXPECT_EQ(read->shares.memory, 0.1);
  EXPECT_EQ(read->shares.loading, 0.05);
  EXPECT_TRUE(std::isnan(read->losses[1]));
  EXPECT_EQ(read->why_not, result().why_not);
  EXPECT_EQ(read->constructed.size(), 2U);
  EXPECT_EQ(read->constructed.at("DataLoader.batch_size").value, 8);
  EXPECT_EQ(read->constructed.at("DataLoader.batch_size").place, "train.py:4");
  EXPECT_EQ(read->constructed.at("DataLoader.num_workers").why_not, "a stream");
  EXPECT_EQ(read->peak_memory_bytes, 1 << 30);
  EXPECT_EQ(journal->find("threads=2"), nullptr);
}

TEST_F(JournalTest, ATornLastLineIsCutOffWhereverItEnds) {
  make_two();
  const std::string whole = text();
  const std::size_t second = whole.find('\n', whole.find('\n') + 1) + 1;
  for (std::size_t size = second; size < whole.size(); size += 7) {
    write(whole.substr(0, size));
    auto journal = Journal::open(folder());
    ASSERT_TRUE(journal.has_value()) << size << ": " << journal.error().message;
    EXPECT_EQ(journal->trials(), 1U) << size;
    ASSERT_TRUE(journal->add("again", result()).has_value());
    const auto reread = Journal::open(folder());
    ASSERT_TRUE(reread.has_value()) << size;
    EXPECT_EQ(reread->trials(), 2U) << size;
  }
}

TEST_F(JournalTest, HostileBytesAreErrors) {
  make_two();
  const std::string whole = text();
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string("{}\n"), std::string("[1]\n{}\n"),
        std::string(100, '\0') + "\n",
        std::string(R"({"schema":"unstarve.tune.journal/1"})") + "\n", whole.substr(0, 40)}) {
    write(bad);
    const auto journal = Journal::open(folder());
    EXPECT_FALSE(journal.has_value()) << bad;
  }
  std::string broken = whole;
  broken.replace(broken.find("measured"), 8, "mexsured");
  write(broken);
  const auto journal = Journal::open(folder());
  ASSERT_FALSE(journal.has_value());
  EXPECT_NE(journal.error().message.find("line 2"), std::string::npos);
}

TEST_F(JournalTest, EveryChangedByteIsReadOrRefused) {
  make_two();
  const std::string whole = text();
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    for (const char byte : {'\0', '"', '9', '-', '\xff'}) {
      std::string changed = whole;
      changed[at] = byte;
      write(changed);
      const auto journal = Journal::open(folder());
      EXPECT_LE(journal ? journal->trials() : 0, 2U) << at;
    }
  }
}

TEST_F(JournalTest, ASearchIsNotWrittenOverAnother) {
  make_two();
  const auto second = Journal::create(folder(), head());
  ASSERT_FALSE(second.has_value());
  EXPECT_NE(second.error().message.find("--resume"), std::string::npos);
  EXPECT_FALSE(Journal::open(folder() + "/none").has_value());
}

}  // namespace
}  // namespace unstarve::tune
