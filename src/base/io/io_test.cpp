#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/io/read.h"
#include "base/io/write.h"
#include "base/testing/test_folder.h"

namespace unstarve::io {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Every other call is ended by a signal; the rest move at most three bytes.
class HaltingFiles final : public Files {
 public:
  Result<std::size_t> read_at(int file, std::uint64_t offset,
                              std::span<std::byte> target) override {
    if (halts()) return fail_errno(EINTR, "cannot read");
    return Files::read_at(file, offset, target.first(std::min(target.size(), kMost)));
  }
  Result<std::size_t> write_at(int file, std::uint64_t offset,
                               std::span<const std::byte> bytes) override {
    if (halts()) return fail_errno(EINTR, "cannot write");
    return Files::write_at(file, offset, bytes.first(std::min(bytes.size(), kMost)));
  }
  Result<std::size_t> write(int file, std::span<const std::byte> bytes) override {
    if (halts()) return fail_errno(EINTR, "cannot write");
    return Files::write(file, bytes.first(std::min(bytes.size(), kMost)));
  }

 private:
  static constexpr std::size_t kMost = 3;
  bool halts() { return ++calls_ % 2 == 1; }
  int calls_ = 0;
};

/// Keeps in which order a file is brought to the disk and gets its name.
class SyncingFiles final : public Files {
 public:
  Status sync(int file) override {
    calls.emplace_back("sync");
    return Files::sync(file);
  }
  Status rename(const std::string& from, const std::string& to) override {
    calls.emplace_back("rename");
    return Files::rename(from, to);
  }
  std::vector<std::string> calls;
};

/// The n-th call that could change something fails, and for ever those after it.
class FailingFiles final : public Files {
 public:
  FailingFiles(int nth, bool for_ever) : nth_(nth), for_ever_(for_ever) {}
  Result<FileDescriptor> open(const std::string& path, int flags, unsigned mode) override {
    if (fails()) return fail_errno(EIO, "cannot open");
    return Files::open(path, flags, mode);
  }
  Status close(FileDescriptor file) override {
    const Status closed = Files::close(std::move(file));
    return fails() ? Status(fail_errno(EIO, "cannot close")) : closed;
  }
  Result<std::size_t> write_at(int file, std::uint64_t offset,
                               std::span<const std::byte> bytes) override {
    if (fails()) return fail_errno(ENOSPC, "cannot write");
    return Files::write_at(file, offset, bytes.first((bytes.size() + 1) / 2));
  }
  Status rename(const std::string& from, const std::string& to) override {
    if (fails()) return fail_errno(EIO, "cannot rename");
    return Files::rename(from, to);
  }
  bool struck() const { return calls_ >= nth_; }

 private:
  bool fails() { return ++calls_ == nth_ || (for_ever_ && calls_ > nth_); }
  const int nth_;
  const bool for_ever_;
  int calls_ = 0;
};

class IoTest : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_.path() + "/" + name; }
  static void store(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string load(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    EXPECT_TRUE(files_.list(folder_.path(), [&](auto name) { names.emplace_back(name); }));
    return names;
  }

  TestFolder folder_;
  Files files_;
};

TEST_F(IoTest, ReadsGoOnOverSignalsAndShortCounts) {
  store(path("a"), "0123456789");
  HaltingFiles halting;
  const Result<FileDescriptor> file = halting.open(path("a"), O_RDONLY);
  ASSERT_TRUE(file);
  std::array<std::byte, 8> target{};
  ASSERT_TRUE(read_exactly(halting, file->get(), 1, target));
  EXPECT_EQ(std::memcmp(target.data(), "12345678", 8), 0);
  EXPECT_EQ(read_available(halting, file->get(), 6, target).value(), 4U);
  EXPECT_EQ(std::memcmp(target.data(), "67895678", 8), 0) << "past the end nothing is touched";
  EXPECT_EQ(read_available(halting, file->get(), 10, target).value(), 0U);
  const Status cut = read_exactly(halting, file->get(), 6, target);
  EXPECT_EQ(cut.error().code, ErrorCode::kCorruptData);
  EXPECT_EQ(cut.error().message, "the file ends at byte 10, where more must follow");
  EXPECT_EQ(read_text(halting, path("a"), 10).value(), "0123456789");
}

TEST_F(IoTest, TextThatIsTooLongIsAnErrorNotACut) {
  store(path("a"), std::string(10'000, 'x'));
  EXPECT_EQ(read_text(files_, path("a"), 10'000)->size(), 10'000U);
  EXPECT_THAT(read_text(files_, path("a"), 9'999).error().message,
              HasSubstr("longer than 9999 bytes"));
  EXPECT_EQ(read_text(files_, path("b"), 1).error().message,
            "cannot open " + path("b") + ": No such file or directory");
  EXPECT_THAT(read_text(files_, folder_.path(), 1).error().message, HasSubstr("cannot read /"));
}

TEST_F(IoTest, WritesGoOnOverSignalsAndShortCounts) {
  HaltingFiles halting;
  store(path("a"), "..........");
  const Result<FileDescriptor> file = halting.open(path("a"), O_WRONLY);
  ASSERT_TRUE(write_all_at(halting, file->get(), 2, bytes_of("01234567")));
  ASSERT_TRUE(write_all(halting, file->get(), bytes_of("abcd")));
  EXPECT_EQ(load(path("a")), "abcd234567");
}

TEST_F(IoTest, WritesAreCutAtMultiplesOf64KiB) {
  struct Counting final : Files {
    Result<std::size_t> write_at(int file, std::uint64_t offset,
                                 std::span<const std::byte> bytes) override {
      ends.push_back(offset + bytes.size());
      return Files::write_at(file, offset, bytes);
    }
    std::vector<std::uint64_t> ends;
  } counting;
  const Result<FileDescriptor> file = counting.open(path("a"), O_WRONLY | O_CREAT);
  const std::string text(130'000, 'x');
  ASSERT_TRUE(write_all_at(counting, file->get(), 1000, bytes_of(text)));
  EXPECT_THAT(counting.ends, testing::ElementsAre(65536, 131'000));
  EXPECT_EQ(counting.state(file->get())->size, 131'000U);
}

TEST_F(IoTest, APipeTakesAllAndItsReadersEndIsSeen) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  FileDescriptor from(ends[0]);
  const FileDescriptor to(ends[1]);
  ASSERT_TRUE(write_all(to.get(), "text"));
  std::array<char, 8> got{};
  EXPECT_EQ(::read(from.get(), got.data(), got.size()), 4);
  from.reset();
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  EXPECT_EQ(write_all(to.get(), "text").error().os_errno, EPIPE);
  ::sigaction(SIGPIPE, &before, nullptr);
}

TEST_F(IoTest, AFileIsReplacedBehindItsLinkWithTheUmasksMode) {
  store(path("real"), "old");
  fs::create_symlink("real", path("link"));
  ASSERT_TRUE(check_replaceable(path("link")));
  ASSERT_TRUE(replace_file(path("link"), "new"));
  EXPECT_EQ(load(path("real")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  ASSERT_TRUE(replace_file(files_, path("own"), bytes_of("x"), 0600));
  EXPECT_EQ(fs::status(path("own")).permissions(), fs::perms(0600));
  const mode_t umask = ::umask(0);
  ::umask(umask);
  EXPECT_EQ(fs::status(path("real")).permissions(), fs::perms(0666 & ~umask));
  EXPECT_EQ(names().size(), 3U);
}

TEST_F(IoTest, WhatCannotBeReplacedIsSaid) {
  fs::create_directory(path("folder"));
  EXPECT_EQ(check_replaceable(path("folder")).error().message,
            "cannot write " + path("folder") + ": Is a directory");
  EXPECT_THAT(replace_file(path("folder"), "x").error().message, HasSubstr("Is a directory"));
  EXPECT_THAT(replace_file(path("none/a"), "x").error().message, HasSubstr("No such file"));
  EXPECT_THAT(check_replaceable(path("none/a")).error().message, HasSubstr("No such file"));
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(IoTest, OfAReplacementThatFailsAnywhereNothingIsLeft) {
  for (const bool for_ever : {false, true}) {
    for (int nth = 1;; ++nth) {
      store(path("a"), "old");
      FailingFiles failing(nth, for_ever);
      const Status status = replace_file(failing, path("a"), bytes_of("new text"));
      if (!failing.struck()) {
        EXPECT_GT(nth, 6) << "open, writes, close and rename were all met";
        EXPECT_EQ(load(path("a")), "new text");
        break;
      }
      EXPECT_THAT(status.error().message, HasSubstr("cannot write " + path("a")));
      EXPECT_EQ(load(path("a")), "old");
      EXPECT_EQ(names().size(), 1U);
    }
  }
}

TEST_F(IoTest, TheNewFileIsOnTheDiskBeforeTheOldOneGoes) {
  store(path("a"), "old");
  SyncingFiles files;
  ASSERT_TRUE(replace_file(files, path("a"), bytes_of("new")));
  EXPECT_THAT(files.calls, testing::ElementsAre("sync", "rename"));
  files.calls.clear();
  ASSERT_TRUE(replace_file(files, path("b"), bytes_of("new")));
  EXPECT_THAT(files.calls, testing::ElementsAre("rename")) << "there was nothing to lose";
}

TEST_F(IoTest, ANameThatWasLeftByAKillIsPassedOver) {
  const std::string left = path((".unstarve-" + std::to_string(::getpid()) + "-0.tmp").c_str());
  store(left, "half");
  ASSERT_TRUE(replace_file(path("a"), "new"));
  EXPECT_EQ(load(path("a")), "new");
  EXPECT_EQ(load(left), "half");
}

TEST_F(IoTest, AMappingOutlivesItsDescriptorAndIsShared) {
  store(path("a"), "0123");
  Mapping mapping;
  {
    const Result<FileDescriptor> file = files_.open(path("a"), O_RDWR);
    EXPECT_FALSE(files_.map(file->get(), 0, MapAccess::kRead));
    Result<Mapping> mapped = files_.map(file->get(), 4, MapAccess::kReadAndWrite);
    ASSERT_TRUE(mapped);
    mapping = std::move(*mapped);
  }
  mapping.writable_bytes()[1] = std::byte{'x'};
  EXPECT_EQ(load(path("a")), "0x23");
  EXPECT_EQ(mapping.bytes().size(), 4U);
}

TEST_F(IoTest, StatesTellFilesApart) {
  store(path("a"), "01");
  const Result<FileDescriptor> file = files_.open(path("a"), O_RDONLY);
  const Result<FileState> open = files_.state(file->get());
  const Result<FileState> named = files_.state_at(path("a"));
  ASSERT_TRUE(open && named);
  EXPECT_EQ(open->identity, named->identity);
  EXPECT_EQ(open->size, 2U);
  EXPECT_TRUE(open->is_regular && !open->is_folder);
  EXPECT_LE(open->changed_ns, files_.now_ns());
  EXPECT_TRUE(files_.state_at(folder_.path())->is_folder);
  EXPECT_EQ(files_.state_at(path("b")).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(files_.exists(path("a")) && !files_.exists(path("b")));
}

TEST_F(IoTest, OnlyRegularFilesAreOpenedAsSuch) {
  store(path("a"), "012");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Result<OpenFile> file = open_regular(files_, path("a"), O_RDONLY);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->state.size, 3U);
  EXPECT_EQ(size_of(files_, file->file.get()).value(), 3U);
  EXPECT_EQ(open_regular(files_, path("pipe"), O_RDONLY).error().message, "not a regular file");
  EXPECT_EQ(open_regular(files_, folder_.path(), O_RDONLY).error().message, "not a regular file");
  EXPECT_EQ(open_regular(files_, path("b"), O_RDONLY).error().code, ErrorCode::kNotFound);
}

TEST_F(IoTest, AFolderThatCannotBeSyncedMayBeLeftSo) {
  struct Unable final : Files {
    Status sync(int) override { return fail_errno(reason, "cannot sync"); }
    int reason = EINVAL;
  } unable;
  EXPECT_TRUE(sync_folder(files_, folder_.path()));
  EXPECT_TRUE(sync_folder(unable, folder_.path()));
  unable.reason = EIO;
  EXPECT_THAT(sync_folder(unable, folder_.path()).error().message,
              HasSubstr("cannot bring to the disk " + folder_.path()));
  EXPECT_FALSE(sync_folder(files_, path("none")));
}

TEST_F(IoTest, ALockGoesWithItsDescriptor) {
  store(path("a"), "");
  Result<FileDescriptor> first = files_.open(path("a"), O_RDONLY);
  const Result<FileDescriptor> second = files_.open(path("a"), O_RDONLY);
  EXPECT_TRUE(files_.try_lock(first->get()).value());
  EXPECT_FALSE(files_.try_lock(second->get()).value());
  first->reset();
  EXPECT_TRUE(files_.try_lock(second->get()).value());
}

}  // namespace
}  // namespace unstarve::io
