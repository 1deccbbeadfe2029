#include "trace/thinning/thinner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "base/testing/test_folder.h"
#include "trace/load_run.h"
#include "trace/run_reader.h"
#include "trace/run_series.h"
#include "trace/run_writer.h"
#include "trace/store/run_schema.h"
#include "trace/store/sqlite.h"
#include "trace/testing/long_job.h"

namespace unstarve::trace {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 5'000 * kSecond;

TEST(SlotPlan, KeepsOneOfEachBlock) {
  for (int level = 0; level <= 6; ++level) {
    const SlotPlan plan{.origin_ns = kStart, .level = level};
    const std::int64_t block = std::int64_t{1} << level;
    for (std::int64_t first = 0; first < 1024; first += block) {
      int kept = 0;
      for (std::int64_t slot = first; slot < first + block; ++slot) kept += plan.keeps(slot);
      EXPECT_EQ(kept, 1) << first << " at level " << level;
      EXPECT_EQ(plan.block_of(first + block / 2).start_ns, plan.slot(first).start_ns);
    }
    EXPECT_TRUE(plan.keeps(0));
  }
}

TEST(SlotPlan, KeepsAtNoLevelWhatALowerOneDropped) {
  for (std::int64_t slot = 0; slot < 2048; ++slot) {
    for (int level = 1; level <= 8; ++level) {
      const SlotPlan plan{.level = level};
      const SlotPlan lower{.level = level - 1};
      EXPECT_LE(plan.keeps(slot), lower.keeps(slot));
    }
  }
}

TEST(SlotPlan, DrawsByLot) {
  const SlotPlan plan{.level = 1};
  int odd = 0;
  for (std::int64_t slot = 1; slot < 4000; slot += 2) odd += plan.keeps(slot);
  EXPECT_NEAR(odd, 1000, 100);
}

TEST(SlotPlan, KnowsWhereNothingIsMissing) {
  const SlotPlan plan{.origin_ns = 0, .slot_ns = 10, .level = 2};
  EXPECT_TRUE(plan.is_whole(1, 9));
  EXPECT_FALSE(plan.is_whole(1, 1000));
  EXPECT_TRUE((SlotPlan{}.is_whole(0, kStart)));
}

/// The counters of all rows of a run, kept and thinned out.
struct Counted {
  std::int64_t rows = 0;
  std::int64_t ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t samples = 0;
};

class LongRun : public ::testing::Test {
 protected:
  std::unique_ptr<RunWriter> create(const std::string& name, std::int64_t rows_max,
                                    std::int64_t pages_max = 1LL << 20) {
    RunInfo info;
    info.run_id = name;
    info.started_ns = kStart;
    RunWriterOptions options;
    options.store_pages_max = pages_max;
    options.thinning.rows_max = rows_max;
    auto made = RunWriter::create(dir(name), info, options);
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }
  std::string dir(const std::string& name) const { return folder_.path() + "/" + name; }

  /// A run of `hours`, finished.
  testing::LongJobTotals write(const std::string& name, std::int64_t rows_max, double hours,
                               std::int64_t window_ns = kSecond) {
    const auto writer = create(name, rows_max);
    testing::LongJobShape shape;
    shape.hours = hours;
    shape.kernels = 4;
    shape.steps_per_pass = 300;
    shape.window_ns = window_ns;
    testing::LongJob job(*writer, shape);
    EXPECT_TRUE(job.write());
    EXPECT_TRUE(writer->finish(job.now_ns(), 0));
    EXPECT_EQ(writer->losses().rows, 0U);
    EXPECT_FALSE(writer->losses().first_error) << writer->losses().first_error->message;
    return job.totals();
  }

  static Counted count(const Timeline& run) {
    Counted counted;
    for (const Step& step : run.steps) {
      ++counted.rows;
      counted.ns += step.when.duration_ns();
      counted.samples += step.samples.value_or(0);
    }
    for (const LoaderWait& wait : run.loader_waits) counted.wait_ns += wait.when.duration_ns();
    for (const auto& [key, totals] : run.thinned) {
      if (key.what != "step") continue;
      counted.rows += totals.rows;
      counted.ns += totals.ns;
      counted.wait_ns += totals.wait_ns;
      counted.samples += totals.samples;
    }
    return counted;
  }

  static void expect_all(const Timeline& run, const testing::LongJobTotals& wrote) {
    const Counted counted = count(run);
    EXPECT_EQ(counted.rows, wrote.steps);
    EXPECT_EQ(counted.ns, wrote.step_ns);
    EXPECT_EQ(counted.wait_ns, wrote.wait_ns);
    EXPECT_EQ(counted.samples, wrote.samples);
  }

  TestFolder folder_;
};

TEST_F(LongRun, LosesNoStepNoWaitAndNoSampleOfTheTotals) {
  const testing::LongJobTotals wrote = write("run", 60'000, 1);
  const auto run = load_run(dir("run"));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_GE(run->thinning.level, 3);
  EXPECT_LT(run->steps.size(), static_cast<std::size_t>(wrote.steps) / 4);
  expect_all(*run, wrote);
}

TEST_F(LongRun, LeavesAShortRunAsItIs) {
  write("short", RunWriterOptions{}.thinning.rows_max, 0.1);
  write("never", std::numeric_limits<std::int64_t>::max(), 0.1);
  const auto bytes = [this](const std::string& name) {
    std::ifstream file(dir(name) + "/run.sqlite", std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  };
  // The name of the run is all that differs.
  std::string written = bytes("short");
  for (auto at = written.find("short"); at != written.npos; at = written.find("short", at)) {
    written.replace(at, 5, "never");
  }
  EXPECT_TRUE(written == bytes("never"));
  EXPECT_EQ(written.find("thinned"), written.npos);
}

TEST_F(LongRun, KeepsStepsWholeWithWhatLiesInThem) {
  for (const std::int64_t window_ns : {std::int64_t{0}, kSecond}) {
    const std::string name = "run" + std::to_string(window_ns);
    write(name, 60'000, 0.5, window_ns);
    const auto run = load_run(dir(name));
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_GE(run->thinning.level, 2);
    // Every step of this job begins with a wait for its batch.
    std::set<std::int64_t> begins;
    for (const LoaderWait& wait : run->loader_waits) begins.insert(wait.when.start_ns);
    for (const Step& step : run->steps) EXPECT_EQ(begins.count(step.when.start_ns), 1U);
    // And every wait that is there belongs to a step that is. The run ends with its last step.
    for (const LoaderWait& wait : run->loader_waits) {
      const bool inside =
          std::any_of(run->steps.begin(), run->steps.end(), [&wait](const Step& step) {
            return step.when.start_ns <= wait.when.start_ns && wait.when.end_ns <= step.when.end_ns;
          });
      EXPECT_TRUE(inside) << wait.when.start_ns;
    }
  }
}

TEST_F(LongRun, KeepsWhatTheJobDidWhileItsGpuWasRecorded) {
  write("thinned", 60'000, 0.5);
  write("whole", std::numeric_limits<std::int64_t>::max(), 0.5);
  const auto thinned = load_run(dir("thinned"));
  const auto whole = load_run(dir("whole"));
  ASSERT_TRUE(thinned && whole);
  ASSERT_GE(thinned->thinning.level, 2);
  ASSERT_EQ(thinned->windows.size(), whole->windows.size());
  const auto inside = [](const Timeline& run, const Interval& window) {
    std::int64_t waited_ns = 0;
    for (const LoaderWait& wait : run.loader_waits) {
      waited_ns += std::max<std::int64_t>(0, std::min(wait.when.end_ns, window.end_ns) -
                                                 std::max(wait.when.start_ns, window.start_ns));
    }
    return waited_ns;
  };
  for (const RecordedWindow& window : thinned->windows) {
    EXPECT_EQ(inside(*thinned, window.when), inside(*whole, window.when));
  }
}

TEST_F(LongRun, KeepsTheMeansOfSamples) {
  write("thinned", 60'000, 0.5);
  write("whole", std::numeric_limits<std::int64_t>::max(), 0.5);
  const auto thinned = RunReader::open(dir("thinned"));
  const auto whole = RunReader::open(dir("whole"));
  ASSERT_TRUE(thinned && whole);
  const Interval all = {kStart, kStart + 1800 * kSecond};
  const auto kept = thinned->series("gpu.utilization_ratio", "gpu0");
  EXPECT_LT(kept->size(), whole->series("gpu.utilization_ratio", "gpu0")->size() / 2);
  const auto mean = mean_in(*thinned, "gpu.utilization_ratio", "gpu0", all);
  EXPECT_NEAR(*mean, *mean_in(*whole, "gpu.utilization_ratio", "gpu0", all), 1e-3);
  for (const SampledSpan& span : spans_in(*thinned, "gpu.utilization_ratio", "gpu0", all)) {
    EXPECT_LE(span.when.duration_ns(), kSecond);
  }
}

// A kill at any moment: what another process sees between two commits, from the log.
TEST_F(LongRun, AddsUpAtEveryMoment) {
  const auto writer = create("run", 20'000);
  testing::LongJobShape shape;
  shape.kernels = 4;
  std::int64_t steps = 0;
  for (std::int64_t at = 0; at < 60 * 600; ++at) {
    StepRow row;
    row.pid = row.thread = 9;
    row.when = {kStart + at * kSecond / 20, kStart + (at + 1) * kSecond / 20};
    row.samples = 8;
    writer->add(row);
    ++steps;
    if (at % 20 != 19) continue;
    ASSERT_TRUE(writer->commit());
    if (at % 4000 != 3999) continue;
    const auto run = load_run(dir("run"));
    ASSERT_TRUE(run);
    EXPECT_EQ(count(*run).rows, steps);
    EXPECT_EQ(count(*run).samples, 8 * steps);
  }
  EXPECT_GE(load_run(dir("run"))->thinning.level, 1);
}

/// Writes steps for ever, with how far it got, and a byte to `pipe` after each commit.
[[noreturn]] void write_for_ever(RunWriter& writer, int pipe) {
  for (std::int64_t at = 0;; ++at) {
    StepRow row;
    row.pid = row.thread = 9;
    row.when = {kStart + at * kSecond / 20, kStart + (at + 1) * kSecond / 20};
    writer.add(row);
    writer.set_mark({"hook-9-1.ring", static_cast<std::uint64_t>(at + 1), 0, 0}, false);
    if (at % 20 != 19) continue;
    if (!writer.commit() || ::write(pipe, "c", 1) != 1) ::_exit(1);
  }
}

// As many steps as the ring's position says, wherever the writer is when it is killed.
TEST_F(LongRun, AddsUpAfterAKill) {
  for (const int commits : {700, 1100, 1500, 1900, 2300}) {
    const std::string name = "killed" + std::to_string(commits);
    std::array<int, 2> ends = {};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto writer = create(name, 8'000);
      write_for_ever(*writer, ends[1]);
    }
    ::close(ends[1]);
    char byte = 0;
    for (int i = 0; i < commits; ++i) ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(ends[0]);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto run = load_run(dir(name));
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_GE(run->thinning.level, 1);
    const auto marks = RunReader::open(dir(name))->ring_marks();
    ASSERT_EQ(marks->size(), 1U);
    EXPECT_EQ(count(*run).rows, static_cast<std::int64_t>(marks->front().position));
    EXPECT_GE(count(*run).rows, 20 * commits);
  }
}

// The disk is full while rows are dropped: SQLite gives up somewhere in it, at another place with
// each size. What the run says it has adds up with what the writer says it lost.
TEST_F(LongRun, SurvivesAFullDiskWhereverItFills) {
  for (const std::int64_t pages : {60, 75, 90, 120, 170, 260}) {
    const std::string name = "full" + std::to_string(pages);
    const auto writer = create(name, 8'000, pages);
    ASSERT_NE(writer, nullptr);
    std::int64_t steps = 0;
    for (std::int64_t at = 0; at < 30'000; ++at) {
      StepRow row;
      row.pid = row.thread = 9;
      row.when = {kStart + at * kSecond / 20, kStart + (at + 1) * kSecond / 20};
      writer->add(row);
      ++steps;
      if (at % 20 == 19) static_cast<void>(writer->commit());
    }
    static_cast<void>(writer->finish(kStart + 2000 * kSecond, 0));
    const auto run = load_run(dir(name));
    ASSERT_TRUE(run) << run.error().message;
    const Counted counted = count(*run);
    EXPECT_LE(counted.rows, steps) << pages;
    EXPECT_GE(counted.rows + static_cast<std::int64_t>(writer->losses().rows), steps) << pages;
  }
}

TEST_F(LongRun, TakesLateRowsOutToo) {
  const auto writer = create("run", 20'000);
  const auto step = [&writer](std::int64_t process, std::int64_t from, std::int64_t to) {
    StepRow row;
    row.pid = row.thread = process;
    row.when = {kStart + from, kStart + to};
    writer->add(row);
  };
  for (std::int64_t at = 0; at < 40'000; ++at) {
    step(9, at * kSecond / 20, (at + 1) * kSecond / 20);
    if (at % 20 == 19) {
      ASSERT_TRUE(writer->commit());
    }
  }
  // Another process's steps of all that time come out of its ring only now.
  for (std::int64_t at = 0; at < 200; ++at) step(10, at * 10 * kSecond, (at + 1) * 10 * kSecond);
  ASSERT_TRUE(writer->commit());
  ASSERT_TRUE(writer->finish(kStart + 2000 * kSecond, 0));
  const auto run = load_run(dir("run"));
  ASSERT_TRUE(run);
  const auto kept = std::count_if(run->steps.begin(), run->steps.end(),
                                  [](const Step& row) { return row.process == 10; });
  EXPECT_LT(kept, 150);
  EXPECT_EQ(count(*run).rows, 40'200);
}

TEST_F(LongRun, KeepsTheWaitsOfALongStepThatStays) {
  const auto writer = create("run", 6'000);
  std::int64_t now_ns = kStart;
  for (int step = 0; step < 40; ++step) {
    const std::int64_t began_ns = now_ns;
    for (int wait = 0; wait < 400; ++wait) {  // 40 s: four slots
      WaitRow row;
      row.pid = row.thread = 9;
      row.when = {now_ns, now_ns + 30'000'000};
      writer->add(row);
      now_ns += 100'000'000;
      if (wait % 10 == 9) {
        ASSERT_TRUE(writer->commit());
      }
    }
    StepRow row;
    row.pid = row.thread = 9;
    row.when = {began_ns, now_ns};
    writer->add(row);
  }
  ASSERT_TRUE(writer->finish(now_ns, 0));
  const auto run = load_run(dir("run"));
  ASSERT_TRUE(run);
  ASSERT_GE(run->thinning.level, 1);
  ASSERT_LT(run->steps.size(), 30U);
  ASSERT_GE(run->steps.size(), 4U);
  for (const Step& step : run->steps) {
    const auto waits = std::count_if(
        run->loader_waits.begin(), run->loader_waits.end(), [&step](const LoaderWait& wait) {
          return wait.when.start_ns >= step.when.start_ns && wait.when.start_ns < step.when.end_ns;
        });
    EXPECT_EQ(waits, 400);
  }
  EXPECT_EQ(count(*run).wait_ns, 40 * 400 * std::int64_t{30'000'000});
}

/// A store whose rows cannot be dropped for a while, as on a full disk.
class FailingThinner : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Database::create(folder_.path() + "/run.sqlite");
    ASSERT_TRUE(made);
    database_.emplace(*std::move(made));
    ASSERT_TRUE(create_run_schema(*database_, 0));
    add(0, 400);
    ASSERT_TRUE(
        database_->execute("CREATE TRIGGER no BEFORE DELETE ON sync BEGIN SELECT RAISE(ABORT, "
                           "'disk I/O error'); END"));
    ASSERT_TRUE(database_->execute("BEGIN"));
    EXPECT_FALSE(thinner_.advance(*database_));
    ASSERT_TRUE(database_->execute("COMMIT"));
    ASSERT_TRUE(database_->execute("DROP TRIGGER no"));
  }

  /// One row each second.
  void add(std::int64_t from_s, std::int64_t to_s) {
    auto insert = database_->prepare("INSERT INTO sync VALUES (?, ?, ?, ?)");
    ASSERT_TRUE(insert);
    ASSERT_TRUE(database_->execute("BEGIN"));
    for (std::int64_t i = from_s; i < to_s; ++i) {
      const std::int64_t at_ns = i * kSecond;
      ASSERT_TRUE(insert->run({std::int64_t{1}, std::int64_t{1}, at_ns, at_ns + 1000}));
      thinner_.inserted(RowKind::kSync, 1, {at_ns, at_ns + 1000}, database_->last_rowid());
    }
    ASSERT_TRUE(database_->execute("COMMIT"));
  }

  TestFolder folder_;
  std::optional<Database> database_;
  ThinningOptions options_{.rows_max = 100, .slots_min = 1, .rows_at_once = 1000};
  Thinner thinner_{0, options_};
};

TEST_F(FailingThinner, EndsAllTheSame) {
  ASSERT_TRUE(database_->execute("BEGIN"));
  const Status ended = thinner_.finish(*database_);
  EXPECT_TRUE(ended) << ended.error().message;
  ASSERT_TRUE(database_->execute("COMMIT"));
}

TEST_F(FailingThinner, GoesOnWhereThereIsRoomAgain) {
  for (std::int64_t at_s = 400; at_s < 900; at_s += 100) {
    add(at_s, at_s + 100);
    ASSERT_TRUE(database_->execute("BEGIN"));
    const Status done = thinner_.advance(*database_);
    EXPECT_TRUE(done) << done.error().message;
    ASSERT_TRUE(database_->execute("COMMIT"));
  }
  auto counted = database_->prepare("SELECT count(*) FROM sync");
  ASSERT_TRUE(counted);
  ASSERT_TRUE(counted->start({}));
  ASSERT_TRUE(counted->next().value_or(false));
  EXPECT_LT(counted->integer(0), 600);
}

}  // namespace
}  // namespace unstarve::trace
