#include "observe/outside/threads/library_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "observe/outside/threads/testing/source_test.h"

namespace unstarve::observe {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kLookEveryNs = 100 * kMs;

constexpr const char* kMaps =
    "00400000-00600000 r-xp 00000000 08:01 11                 /usr/bin/python3.11\n"
    "00700000-00800000 rw-p 00000000 08:01 11                 /usr/bin/python3.11\n"
    "7f0000000000-7f0000100000 r-xp 00001000 08:01 12         /usr/lib/libjpeg.so.62 (deleted)\n"
    "7f0000200000-7f0000201000 r-xp 00000000 00:00 0 \n"
    "7ffff0000000-7ffff0002000 r-xp 00000000 00:00 0          [vdso]\n";

/// What a test says of a thread.
struct Told {
  std::vector<host::CodeSample> samples;
  bool ended = false;
};

class ToldSamples final : public host::CodeSamples {
 public:
  explicit ToldSamples(Told& thread) : told_(thread) {}
  void drain(std::vector<host::CodeSample>& to) override {
    to.insert(to.end(), told_.samples.begin(), told_.samples.end());
    told_.samples.clear();
  }
  bool has_ended() const override { return told_.ended; }

 private:
  Told& told_;
};

class LibrarySourceTest : public SourceTest {
 protected:
  void SetUp() override {
    SourceTest::SetUp();
    source_ = std::make_unique<LibrarySource>(
        files_, [this](std::int64_t thread) -> Result<std::unique_ptr<host::CodeSamples>> {
          ++opened_;
          return std::make_unique<ToldSamples>(told_[thread]);
        });
  }
  void set_maps(std::int64_t pid, const std::string& text) {
    std::filesystem::create_directories(process(pid));
    std::ofstream(process(pid) + "/maps") << text;
  }
  void end_process(std::int64_t pid) { std::filesystem::remove_all(process(pid)); }
  /// A sample of the main thread of `pid`, in the middle of the tick that comes next.
  void run(std::int64_t pid, std::uint64_t address) {
    told_[pid].samples.push_back({number_ * kLookEveryNs - kLookEveryNs / 2, address});
  }
  void fetch(std::int64_t pid, std::int64_t first_tick, std::int64_t last_tick) {
    trace::FetchRow row;
    row.pid = pid;
    row.thread = pid;
    row.when = {(first_tick - 1) * kLookEveryNs, last_tick * kLookEveryNs};
    source_->note(row);
  }
  void tick(bool full_second = false) {
    source_->sample({number_, number_ * kLookEveryNs, full_second}, *book_);
    ++number_;
  }
  Reading<double> looks(std::string_view library) const {
    return book_->latest("job.fetch_code_looks", library);
  }

  std::map<std::int64_t, Told> told_;  // by thread
  int opened_ = 0;
  std::unique_ptr<LibrarySource> source_;
  std::int64_t number_ = 1;
};

TEST_F(LibrarySourceTest, CountsByFileWhatLiesWithinFetches) {
  set_maps(7, kMaps);
  fetch(7, 0, 0);    // from now on its thread is known
  run(7, 0x400010);  // 1: before the fetch
  tick();
  run(7, 0x7f0000000010);  // 2
  tick();
  run(7, 0x7f0000000020);  // 3
  run(7, 0x5fffff);
  run(7, 0x7f0000200010);
  tick();
  run(7, 0x7ffff0000010);  // 4: behind it
  tick();
  fetch(7, 2, 3);
  tick(true);
  EXPECT_EQ(opened_, 1);
  EXPECT_DOUBLE_EQ(*looks("libjpeg.so.62"), 2);
  EXPECT_DOUBLE_EQ(*looks("python3.11"), 1);
  EXPECT_DOUBLE_EQ(*looks("code made at run time"), 1);
  EXPECT_FALSE(looks("[vdso]"));
}

TEST_F(LibrarySourceTest, WhatIsLoadedLaterIsFoundAndOfWhatHasEndedWhatWasKnown) {
  set_maps(7, "00400000-00600000 r-xp 00000000 08:01 11 /usr/bin/python3.11\n");
  fetch(7, 0, 0);
  fetch(8, 0, 0);
  run(7, 0x400010);
  tick();  // read
  set_maps(7, kMaps);
  for (int i = 0; i < 10; ++i) tick();  // a second later
  run(7, 0x7f0000000010);
  tick();
  run(8, 0x400010);  // never had a map
  end_process(7);
  run(7, 0x400020);
  tick();
  fetch(7, 1, 20);
  fetch(8, 1, 20);
  tick(true);
  EXPECT_DOUBLE_EQ(*looks("libjpeg.so.62"), 1);
  EXPECT_DOUBLE_EQ(*looks("python3.11"), 2);
  EXPECT_DOUBLE_EQ(*looks("unknown"), 1);
}

TEST_F(LibrarySourceTest, OnlySoManyThreadsAreLookedAtAndThoseThatEndedMakeRoom) {
  constexpr auto kMost = static_cast<std::int64_t>(LibrarySource::kMostThreads);
  for (std::int64_t pid = 1; pid <= kMost + 1; ++pid) fetch(pid, 0, 0);
  EXPECT_EQ(opened_, kMost);
  told_[3].ended = true;
  tick(true);
  fetch(kMost + 1, 1, 1);
  EXPECT_EQ(opened_, kMost + 1);
}

TEST_F(LibrarySourceTest, SaysWhyThereAreNone) {
  LibrarySource none(files_, [](std::int64_t thread) -> Result<std::unique_ptr<host::CodeSamples>> {
    return thread == 7 ? fail(ErrorCode::kNotFound, "it has ended")
                       : fail(ErrorCode::kNoPermission, "paranoid");
  });
  trace::FetchRow row;
  row.thread = 7;
  none.note(row);
  none.sample({0, 0, true}, *book_);
  EXPECT_TRUE(book_->latest().empty()) << "of another thread it may be possible";
  row.thread = 8;
  none.note(row);
  none.sample({1, kLookEveryNs, true}, *book_);
  EXPECT_EQ(looks("job").why_absent(), WhyAbsent::kNoPermission);
}

}  // namespace
}  // namespace unstarve::observe
