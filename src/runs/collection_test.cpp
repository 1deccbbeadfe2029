#include "runs/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/clock.h"
#include "base/testing/test_folder.h"
#include "base/units.h"
#include "host/process_identity.h"
#include "runs/entries.h"
#include "runs/index.h"
#include "runs/labels.h"
#include "runs/testing/written_run.h"

namespace unstarve::runs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class RunsFolder : public testing::Test {
 protected:
  std::string dir(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string index() const { return dir(kIndexFile); }

  /// As if the index had been written long after what it holds was changed.
  void age_index() const {
    auto read = read_collection(folder_.path());
    ASSERT_TRUE(read);
    for (CollectedRun& run : read->runs) run.summary.read_ns += 3600 * kSecondNs;
    ASSERT_TRUE(write_index(folder_.path(), read->runs));
  }
  Collection collection() const {
    auto read = read_collection(folder_.path());
    EXPECT_TRUE(read) << read.error().message;
    return read ? *std::move(read) : Collection();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const CollectedRun& run : collection().runs) names.push_back(run.summary.name);
    return names;
  }
  void write_two() const {
    write_run(dir("older"), {.started_wall_ns = 1'000});
    write_run(dir("newer"), {.started_wall_ns = 2'000, .exit_code = 3});
  }

  TestFolder folder_;
};

TEST_F(RunsFolder, TheNewestRunComesFirstWithWhatWasFound) {
  write_two();
  const Collection read = collection();
  ASSERT_EQ(read.runs.size(), 2U);
  const CollectedRun& run = read.runs[0];
  EXPECT_EQ(run.summary.name, "newer");
  EXPECT_EQ(*run.summary.exit_code, 3);
  EXPECT_DOUBLE_EQ(*run.summary.duration_s, 12);
  EXPECT_EQ(*run.summary.steps, 3);
  EXPECT_THAT(command_of(run.summary), ElementsAre("python", "train.py"));
  ASSERT_NE(leading_finding(run), nullptr);
  EXPECT_EQ(leading_finding(run)->detail, "decode_cpu");
  ASSERT_EQ(run.predictions.size(), 1U);
  EXPECT_EQ(run.predictions[0].remedy, "more_workers");
  EXPECT_GT(run.summary.size_bytes, 0);
}

TEST_F(RunsFolder, TheIndexHoldsWhatTheRunsHold) {
  write_two();
  ASSERT_TRUE(add_tag(dir("older"), "kept"));
  const Collection first = collection();
  EXPECT_EQ(first.read_anew, 2U);
  age_index();
  const Collection second = collection();
  EXPECT_EQ(second.read_anew, 0U);
  ASSERT_EQ(second.runs.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const RunSummary& a = first.runs[i].summary;
    const RunSummary& b = second.runs[i].summary;
    EXPECT_EQ(std::tie(a.name, a.command_json, a.tags, a.size_bytes, a.started_wall_ns),
              std::tie(b.name, b.command_json, b.tags, b.size_bytes, b.started_wall_ns));
    EXPECT_EQ(second.runs[i].findings.size(), 1U);
    EXPECT_EQ(second.runs[i].predictions.size(), 1U);
    EXPECT_FALSE(second.runs[i].predictions[0].held);
  }
}

TEST_F(RunsFolder, WhatWasReadRightAfterItsChangeIsReadAgain) {
  write_two();
  EXPECT_EQ(collection().read_anew, 2U);
  EXPECT_EQ(collection().read_anew, 2U);
}

TEST_F(RunsFolder, OnlyAChangedRunIsReadAgain) {
  write_two();
  age_index();
  const auto writer = trace::RunWriter::reopen(dir("older"));
  ASSERT_TRUE(writer);
  trace::FindingRow finding;
  finding.index = 1;
  finding.share = 0.7;
  finding.cause = "launch";
  (*writer)->add(finding);
  ASSERT_TRUE((*writer)->commit());
  const Collection changed = collection();
  EXPECT_EQ(changed.read_anew, 1U);
  EXPECT_EQ(changed.runs[1].findings.size(), 2U);
  age_index();
  ASSERT_TRUE(add_tag(dir("newer"), "kept"));
  EXPECT_EQ(collection().read_anew, 1U);
  EXPECT_EQ(collection().runs[0].summary.tags, "kept");
  age_index();
  ASSERT_TRUE(write_note(dir("newer"), "words"));
  EXPECT_EQ(collection().runs[0].summary.note, "words");
}

TEST_F(RunsFolder, RemovedRunsLeaveTheIndex) {
  write_two();
  age_index();
  fs::remove_all(dir("newer"));
  EXPECT_THAT(names(), ElementsAre("older"));
  EXPECT_EQ(read_index(folder_.path()).size(), 1U);
}

TEST_F(RunsFolder, AnIndexThatIsGoneOrDamagedIsMadeAnew) {
  write_two();
  age_index();
  fs::remove(index());
  EXPECT_THAT(names(), ElementsAre("newer", "older"));
  EXPECT_TRUE(fs::exists(index()));
  const auto whole = fs::file_size(index());
  for (const std::string& damage :
       {std::string(), std::string("no store"), std::string(whole, 7)}) {
    std::ofstream(index(), std::ios::binary) << damage;
    EXPECT_THAT(names(), ElementsAre("newer", "older")) << damage.size();
    EXPECT_EQ(read_index(folder_.path()).size(), 2U);
  }
  for (const std::uintmax_t size : {whole / 2, std::uintmax_t{100}, whole - 1}) {
    ASSERT_TRUE(write_index(folder_.path(), collection().runs));
    fs::resize_file(index(), size);
    EXPECT_THAT(names(), ElementsAre("newer", "older")) << size;
  }
}

TEST_F(RunsFolder, AnIndexOfAnotherVersionIsMadeAnew) {
  write_two();
  age_index();
  {
    auto other = trace::Database::create(index());
    ASSERT_TRUE(other);
    ASSERT_TRUE(
        other->execute("UPDATE about SET schema = 'unstarve.index/0'; UPDATE run SET "
                       "command = '[\"from another version\"]'"));
  }
  const Collection read = collection();
  EXPECT_EQ(read.read_anew, 2U);
  EXPECT_THAT(command_of(read.runs[0].summary), ElementsAre("python", "train.py"));
}

TEST_F(RunsFolder, AFolderInPlaceOfTheIndexCostsNothingButTime) {
  write_two();
  fs::create_directory(index());
  EXPECT_THAT(names(), ElementsAre("newer", "older"));
}

TEST_F(RunsFolder, OtherFoldersLinksAndFilesAreNoRuns) {
  write_two();
  fs::create_directories(dir("data/images"));
  fs::create_directory_symlink(dir("older"), dir("link"));
  std::ofstream(dir("file")) << "x";
  EXPECT_THAT(names(), ElementsAre("newer", "older"));
  EXPECT_EQ(read_collection(dir("older")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_collection(dir("nowhere")).error().code, ErrorCode::kNotFound);
}

TEST_F(RunsFolder, ARunThatCannotBeReadIsListedWithTheReason) {
  write_two();
  fs::create_directory(dir("broken"));
  std::ofstream(dir("broken/run.sqlite")) << "this is no store, and long enough to be told so";
  {
    auto store = trace::Database::create(dir("newer/run.sqlite"));
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->execute("UPDATE run SET value = 'unstarve.run/2' WHERE key = 'schema'"));
  }
  std::map<std::string, std::string> problems;
  for (const CollectedRun& run : collection().runs) {
    problems[run.summary.name] = run.summary.problem;
  }
  EXPECT_EQ(problems["older"], "");
  EXPECT_THAT(problems["broken"], testing::HasSubstr("broken/run.sqlite"));
  EXPECT_THAT(problems["newer"], testing::HasSubstr("unstarve.run/2"));
}

TEST_F(RunsFolder, ASearchIsOneLineAndStagesAreOneEach) {
  write_run(dir("search/before"), {.started_wall_ns = 1'000});
  write_run(dir("search/more_workers"), {.started_wall_ns = 2'000});
  write_run(dir("job/preprocess"), {.started_wall_ns = 3'000, .stage = "preprocess"});
  write_run(dir("job/train"), {.started_wall_ns = 4'000, .stage = "train"});
  ASSERT_TRUE(add_tag(dir("search"), "night"));
  const Collection read = collection();
  const auto lines = [&read](const ListFilter& filter) {
    std::vector<std::string> shown;
    for (const ListedRun& run : list_runs(read, filter, host::HostFiles(), 0)) {
      shown.push_back(run.name + "+" + std::to_string(run.of_runs));
    }
    return shown;
  };
  EXPECT_THAT(lines({}), ElementsAre("job/train+1", "job/preprocess+1", "search+2"));
  EXPECT_THAT(lines({.tag = "night"}), ElementsAre("search+2"));
  EXPECT_THAT(lines({.tag = "night", .all = true}),
              ElementsAre("search/more_workers+1", "search/before+1"));
  EXPECT_THAT(lines({.at_most = 1}), ElementsAre("job/train+1"));
  EXPECT_THAT(lines({.failed = true}), ElementsAre());
}

TEST_F(RunsFolder, ATuningsRunsAreOneLineAndAProjectsAreOneEach) {
  write_run(dir("tuned/trials/baseline"), {.started_wall_ns = 1'000});
  write_run(dir("tuned/trials/bf16"), {.started_wall_ns = 2'000});
  write_run(dir("project/a"), {.started_wall_ns = 3'000});
  write_run(dir("project/b"), {.started_wall_ns = 4'000});
  ASSERT_TRUE(add_tag(dir("tuned"), "night"));
  const Collection read = collection();
  std::vector<std::string> entries;
  for (const Entry& entry : entries_of(read)) entries.push_back(entry.name);
  EXPECT_THAT(entries, ElementsAre("project/b", "project/a", "tuned"));
  for (const CollectedRun& run : read.runs) {
    EXPECT_EQ(run.summary.tags, run.summary.name[0] == 't' ? "night" : "") << run.summary.name;
  }
  EXPECT_TRUE(is_one_entry(*read_entry(dir("tuned"))));
  write_run(dir("gate/now-warm-up"));
  write_run(dir("gate/base-1"));
  EXPECT_TRUE(is_one_entry(*read_entry(dir("gate"))));
  EXPECT_FALSE(is_one_entry(*read_entry(dir("project"))));
  EXPECT_FALSE(is_one_entry(read));
}

TEST(RunStates, ARunWithoutAnEndGoesOnAsLongAsItsWatcherLives) {
  const host::HostFiles files;
  RunSummary run;
  run.changed_ns = 1000 * kSecondNs;
  const std::int64_t soon = run.changed_ns + 10 * kSecondNs;
  const std::int64_t late = run.changed_ns + 100 * kSecondNs;
  EXPECT_EQ(state_of(run, files, soon), RunState::kRunning);
  EXPECT_EQ(state_of(run, files, late), RunState::kKilled);
  host::ProcessIdentity watcher = *host::own_identity(files);
  run.watcher = host::to_text(watcher);
  EXPECT_EQ(state_of(run, files, late), RunState::kRunning);
  watcher.start_ticks += 1;
  run.watcher = host::to_text(watcher);
  EXPECT_EQ(state_of(run, files, soon), RunState::kKilled);
  run.has_ended = true;
  EXPECT_EQ(state_of(run, files, soon), RunState::kEnded);
  run.problem = "damaged";
  EXPECT_EQ(state_of(run, files, soon), RunState::kUnreadable);
}

}  // namespace
}  // namespace unstarve::runs
