#include "runs/removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_folder.h"
#include "base/units.h"
#include "host/process_identity.h"
#include "runs/labels.h"
#include "runs/naming.h"
#include "runs/testing/written_run.h"

namespace unstarve::runs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class RunRemoval : public testing::Test {
 protected:
  std::string dir(const std::string& name) const { return folder_.path() + "/" + name; }
  void put_file(const std::string& name) const { std::ofstream(dir(name)) << "x"; }
  Result<Removal> remove(const std::string& name, Removing how = Removing::kDo) const {
    return remove_entry(dir(name), how, files_);
  }

  TestFolder folder_;
  const host::HostFiles files_;
};

TEST_F(RunRemoval, AllThatUnstarveWroteGoes) {
  write_run(dir("run"));
  ASSERT_TRUE(add_tag(dir("run"), "kept"));
  ASSERT_TRUE(write_note(dir("run"), "words"));
  for (const char* name :
       {"run/events-0.uev", "run/kineto-12.json.gz", "run/report.html", "run/rings/hook-1-2.ring",
        "run/rings/cupti-1-2.errno-28", "run/.unstarve-7-0.tmp"}) {
    put_file(name);
  }
  const auto planned = remove("run", Removing::kPlan);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_TRUE(fs::exists(dir("run/run.sqlite")));
  const auto removed = remove("run/");
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_TRUE(removed->folder_goes);
  EXPECT_EQ(std::tie(planned->files, planned->bytes, planned->folder_goes),
            std::tie(removed->files, removed->bytes, removed->folder_goes));
  EXPECT_FALSE(fs::exists(dir("run")));
}

TEST_F(RunRemoval, WhatIsSomebodyElsesStays) {
  write_run(dir("run"));
  put_file("outside");
  fs::create_directories(dir("run/checkpoints"));
  fs::create_directories(dir("elsewhere"));
  for (const char* name :
       {"run/checkpoints/1.pt", "run/model.pt", "run/rings/mine", "run/kineto-x.json.gz",
        "run/output.log", "run/caches.txt", "elsewhere/hook-1-2.ring"}) {
    put_file(name);
  }
  fs::create_symlink(dir("outside"), dir("run/report.html"));
  fs::create_directory_symlink(dir("elsewhere"), dir("run/tags"));
  const auto removed = remove("run");
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(removed->folder_goes);
  EXPECT_THAT(removed->left,
              UnorderedElementsAre("caches.txt", "checkpoints/", "kineto-x.json.gz", "model.pt",
                                   "output.log", "report.html", "rings/mine", "tags"));
  EXPECT_TRUE(fs::exists(dir("outside")));
  EXPECT_TRUE(fs::exists(dir("elsewhere/hook-1-2.ring")));
  EXPECT_TRUE(fs::exists(dir("run/checkpoints/1.pt")));
  EXPECT_FALSE(fs::exists(dir("run/run.sqlite")));
}

TEST_F(RunRemoval, OnlyAnEmptyFileIsATag) {
  write_run(dir("run"));
  ASSERT_TRUE(add_tag(dir("run"), "kept"));
  put_file("run/tags/mine");
  const auto removed = remove("run");
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_THAT(removed->left, ElementsAre("tags/mine"));
}

TEST_F(RunRemoval, ASearchGoesWithItsRuns) {
  write_run(dir("search/before"));
  write_run(dir("search/more_workers"));
  put_file("search/trials.json");
  put_file("search/before/output.log");
  fs::create_directory(dir("search/images"));
  put_file("search/images/run.txt");
  const auto removed = remove("search");
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_THAT(removed->left, ElementsAre("images/"));
  EXPECT_FALSE(fs::exists(dir("search/before")));
  EXPECT_FALSE(fs::exists(dir("search/trials.json")));
  EXPECT_TRUE(fs::exists(dir("search/images/run.txt")));
}

TEST_F(RunRemoval, ATuningGoesAndWhatAKilledTrialLeftStays) {
  write_run(dir("tuned/trials/baseline"));
  write_run(dir("tuned/trials/bf16"));
  for (const char* name :
       {"tuned/journal.jsonl", "tuned/tune.json", "tuned/trials/bf16/tune.json"}) {
    put_file(name);
  }
  fs::create_directories(dir("tuned/caches/TRITON_CACHE_DIR"));
  const auto whole = remove("tuned", Removing::kPlan);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_TRUE(whole->folder_goes);
  fs::create_directories(dir("tuned/trials/bf16/written/0/changes"));
  put_file("tuned/trials/bf16/written/0/changes/model.pt");
  const auto removed = remove("tuned");
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_THAT(removed->left, ElementsAre("trials/bf16/written/0/changes/model.pt"));
  EXPECT_FALSE(fs::exists(dir("tuned/caches")));
  EXPECT_FALSE(fs::exists(dir("tuned/trials/baseline")));
}

TEST_F(RunRemoval, AFolderOfRunsIsRefused) {
  write_run(dir("a"));
  write_run(dir("b"));
  const auto removed = remove_entry(folder_.path(), Removing::kDo, files_);
  EXPECT_THAT(removed.error().message, HasSubstr("is a folder of runs"));
  EXPECT_TRUE(fs::exists(dir("a/run.sqlite")));
  // By its looks it is a search now; but a search has no index.
  ASSERT_TRUE(read_collection(folder_.path()));
  write_run(dir("before"));
  EXPECT_FALSE(remove_entry(folder_.path(), Removing::kDo, files_));
  EXPECT_TRUE(fs::exists(dir("a/run.sqlite")));
}

TEST_F(RunRemoval, WhatIsNoRunThatEndedIsRefusedByName) {
  fs::create_directory(dir("data"));
  put_file("data/report.html");
  EXPECT_THAT(remove("data").error().message, HasSubstr("neither a run"));
  write_run(dir("run"));
  fs::create_directory_symlink(dir("run"), dir("link"));
  EXPECT_THAT(remove("link").error().message, HasSubstr("is a link"));
  EXPECT_THAT(remove("link/").error().message, HasSubstr("is a link"));
  write_run(dir("running"),
            {.has_ended = false, .watcher = host::to_text(*host::own_identity(files_))});
  EXPECT_THAT(remove("running").error().message, HasSubstr("goes on"));
  // Its watcher is there: it judges the run, or makes the next one of a search.
  write_run(dir("judged"), {.watcher = host::to_text(*host::own_identity(files_))});
  EXPECT_THAT(remove("judged").error().message, HasSubstr("report is being made"));
  fs::create_directory(dir("broken"));
  put_file("broken/run.sqlite");
  EXPECT_EQ(remove("broken").error().code, ErrorCode::kNotSupported);
  for (const char* name :
       {"data/report.html", "run/run.sqlite", "running/run.sqlite", "broken/run.sqlite"}) {
    EXPECT_TRUE(fs::exists(dir(name))) << name;
  }
}

TEST_F(RunRemoval, PruningKeepsTaggedRunningAndUnreadableRuns) {
  constexpr std::int64_t kDayNs = 86'400 * kSecondNs;
  const std::int64_t now_ns = 1'000 * kDayNs;
  write_run(dir("old"), {.started_wall_ns = now_ns - 40 * kDayNs});
  write_run(dir("tagged"), {.started_wall_ns = now_ns - 50 * kDayNs});
  ASSERT_TRUE(add_tag(dir("tagged"), "kept"));
  write_run(dir("running"), {.started_wall_ns = now_ns - 60 * kDayNs,
                             .has_ended = false,
                             .watcher = host::to_text(*host::own_identity(files_))});
  fs::create_directory(dir("broken"));
  put_file("broken/run.sqlite");
  write_run(dir("new"), {.started_wall_ns = now_ns - 1 * kDayNs});
  write_run(dir("search/before"), {.started_wall_ns = now_ns - 70 * kDayNs});
  write_run(dir("search/again"), {.started_wall_ns = now_ns - 20 * kDayNs});
  const auto collection = read_collection(folder_.path());
  ASSERT_TRUE(collection);
  const auto names = [&](const PruneOptions& options) {
    return prunable(*collection, options, files_, now_ns).names;
  };
  EXPECT_THAT(names({.keep_days = 30}), ElementsAre("old"));
  EXPECT_THAT(names({.keep_days = 10}), ElementsAre("old", "search"));
  EXPECT_THAT(names({.bytes_most = 1}), ElementsAre("old", "search", "new"));
  std::int64_t all = 0;
  for (const CollectedRun& run : collection->runs) all += run.summary.size_bytes;
  EXPECT_THAT(names({.bytes_most = all}), ElementsAre());
  const Prunable one = prunable(*collection, {.bytes_most = all - 1}, files_, now_ns);
  EXPECT_THAT(one.names, ElementsAre("old"));
  EXPECT_LT(one.bytes_kept, all);
}

TEST(Labels, ATagIsAPlainName) {
  TestFolder folder;
  for (const char* tag : {"", ".", "..", "a/b", "-x", "a b", "a\n", "\x1b[0m", "\xc3\xa4"}) {
    EXPECT_FALSE(add_tag(folder.path(), tag)) << tag;
  }
  EXPECT_FALSE(add_tag(folder.path(), std::string(65, 'a')));
  for (const char* tag : {"bs=64", "lr:1e-3", "a"}) EXPECT_TRUE(add_tag(folder.path(), tag));
  EXPECT_TRUE(add_tag(folder.path(), "a"));
  EXPECT_TRUE(remove_tag(folder.path(), "not-there"));
  EXPECT_THAT(read_labels(folder.path()).tags, ElementsAre("a", "bs=64", "lr:1e-3"));
  EXPECT_TRUE(remove_tag(folder.path(), "a"));
  EXPECT_THAT(read_labels(folder.path()).tags, ElementsAre("bs=64", "lr:1e-3"));
}

TEST(Labels, ANoteIsReplacedAndRemoved) {
  TestFolder folder;
  ASSERT_TRUE(write_note(folder.path(), "first"));
  ASSERT_TRUE(write_note(folder.path(), "second"));
  EXPECT_EQ(read_labels(folder.path()).note, "second");
  EXPECT_FALSE(write_note(folder.path(), std::string(kNoteBytesMax + 1, 'x')));
  ASSERT_TRUE(write_note(folder.path(), ""));
  ASSERT_TRUE(write_note(folder.path(), ""));
  EXPECT_EQ(read_labels(folder.path()).note, "");
}

TEST(Naming, ARunIsNamedByItsPathItsNameOrLast) {
  TestFolder folder;
  const std::string runs = folder.path();
  write_run(runs + "/a", {.started_wall_ns = 1'000});
  write_run(runs + "/b", {.started_wall_ns = 2'000});
  EXPECT_EQ(*find_entry(runs + "/a", "nowhere"), runs + "/a");
  EXPECT_EQ(*find_entry(runs + "/a/run.sqlite", "nowhere"), runs + "/a");
  EXPECT_EQ(*find_entry("a", runs), runs + "/a");
  EXPECT_EQ(*find_entry("last", runs), runs + "/b");
  EXPECT_EQ(find_entry("c", runs).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(find_entry("", runs).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace unstarve::runs
