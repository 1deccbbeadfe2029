#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/testing/test_folder.h"
#include "feed/cache/testing/later_files.h"
#include "feed/pipeline/testing/jpeg_folder.h"
#include "feed/pipeline/testing/run_epoch.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;
using test::EpochResult;
using test::JpegKind;
using test::run_epoch;
using testing::HasSubstr;
constexpr std::uint64_t kImages = test::JpegFolder::kImages;

/// Of its writes, the n-th may be the last: half of it
/// arrives, and nothing after it, as when the process is killed or the disk is full.
class TestFiles final : public test::LaterFiles {
 public:
  explicit TestFiles(int last_write = 1 << 30) : last_write_(last_write) {}
  Result<std::size_t> write_at(int file, std::uint64_t offset,
                               std::span<const std::byte> bytes) override {
    const int write = writes_.fetch_add(1);
    if (write < last_write_) return Files::write_at(file, offset, bytes);
    if (write == last_write_) (void)Files::write_at(file, offset, bytes.first(bytes.size() / 2));
    return fail_errno(ENOSPC, "cannot write");
  }
  Status truncate(int file, std::uint64_t size) override {
    if (writes_.load() <= last_write_) return Files::truncate(file, size);
    return fail_errno(EIO, "cannot cut the file");
  }
  Result<io::DiskSpace> space(int file) override {
    return full_ ? io::DiskSpace{0, 1 << 30} : Files::space(file);
  }
  void fill_disk() { full_ = true; }
  int writes() const { return writes_.load(); }

 private:
  const int last_write_;
  std::atomic<int> writes_{0};
  std::atomic<bool> full_{false};
};

class LoaderCacheTest : public testing::Test {
 protected:
  LoaderOptions plain() const {
    LoaderOptions options = folder_.options();
    options.keep_index = false;
    return options;
  }
  LoaderOptions cached() const {
    LoaderOptions options = plain();
    options.cache_dir = cache_.path();
    return options;
  }
  static std::unique_ptr<Loader> open(const LoaderOptions& options,
                                      std::shared_ptr<io::Files> storage = nullptr) {
    LoaderParts parts = LoaderParts::real();
    parts.cache_files = storage ? std::move(storage) : std::make_shared<TestFiles>();
    auto loader = Loader::open(options, parts);
    EXPECT_TRUE(loader) << loader.error().message;
    return loader ? std::move(*loader) : nullptr;
  }
  /// One epoch of a loader that lives as long: what it keeps is written when this returns.
  static EpochResult epoch_of(const LoaderOptions& options, std::uint32_t epoch,
                              CacheStats* stats = nullptr) {
    const std::unique_ptr<Loader> loader = open(options);
    EpochResult result = run_epoch(*loader, epoch);
    if (stats != nullptr) *stats = loader->cache_stats();
    return result;
  }
  /// An epoch with the cache gives the batches that one without it gives; returns what it did.
  CacheStats expect_same(std::uint32_t epoch) const {
    CacheStats stats;
    const EpochResult expected = epoch_of(plain(), epoch);
    const EpochResult got = epoch_of(cached(), epoch, &stats);
    EXPECT_FALSE(expected.error || got.error);
    EXPECT_EQ(expected.hash, got.hash);
    EXPECT_EQ(expected.counts, got.counts);
    return stats;
  }
  /// Runs epochs until the writer, which is on its own, has found one.
  static std::string reason_to_stop(Loader& loader) {
    for (std::uint32_t epoch = 0; epoch < 10'000; ++epoch) {
      (void)run_epoch(loader, epoch);
      if (!loader.cache_stats().stopped.empty()) break;
    }
    return loader.cache_stats().stopped;
  }
  void write(int i, JpegKind kind, int width, int height) const {
    const auto bytes = test::make_jpeg(kind, width, height, static_cast<unsigned>(1000 + i));
    std::ofstream(folder_.path_of(i), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::ptrdiff_t>(bytes.size()));
  }
  /// The files of the only data set's cache.
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto& file : fs::recursive_directory_iterator(cache_.path())) {
      if (file.is_regular_file()) files.push_back(file.path());
    }
    return files;
  }
  fs::path file(const std::string& name) const {
    for (const fs::path& path : files()) {
      if (path.filename() == name) return path;
    }
    ADD_FAILURE() << "no file " << name;
    return {};
  }

  test::JpegFolder folder_;
  TestFolder cache_;
};

TEST_F(LoaderCacheTest, TheSecondEpochReadsCopiesWithTheSamePixels) {
  CacheStats stats = expect_same(0);
  EXPECT_TRUE(stats.on);
  EXPECT_EQ(stats.hits, 0U);
  for (std::uint32_t epoch = 1; epoch < 4; ++epoch) {
    stats = expect_same(epoch);
    EXPECT_EQ(stats.hits, kImages);
    EXPECT_EQ(stats.kept, 0U);
    EXPECT_EQ(stats.damaged, 0U);
  }
}

TEST_F(LoaderCacheTest, EverySamplingGivesTheSamePixelsAndWhatHasNoOtherFormStaysAFile) {
  constexpr std::array kKinds = {JpegKind::k420,  JpegKind::k422,         JpegKind::k444,
                                 JpegKind::kGrey, JpegKind::kProgressive, JpegKind::kCmyk};
  for (int i = 0; i < static_cast<int>(kImages); ++i) {
    write(i, kKinds[static_cast<std::size_t>(i) % kKinds.size()], 33 + 7 * i, 121 - 5 * i);
  }
  CacheStats stats = expect_same(0);
  stats = expect_same(1);
  EXPECT_EQ(stats.hits, kImages - kImages / kKinds.size()) << "all but the CMYK files";
  EXPECT_EQ(stats.kept + stats.refused, 0U) << "nothing is tried twice";
}

TEST_F(LoaderCacheTest, AChangedFileGivesItsNewPixels) {
  (void)expect_same(0);
  struct stat before = {};
  ASSERT_EQ(::stat(folder_.path_of(3).c_str(), &before), 0);
  write(3, JpegKind::k444, 50, 40);
  write(4, JpegKind::kGrey, 50, 40);
  // Of the same length and with its old time: what is left is the time of the change itself.
  const auto path = folder_.path_of(5);
  std::string bytes(fs::file_size(path), '\0');
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  std::ifstream(path, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::size_t table = bytes.find("\xFF\xDB");  // of quantisation steps
  ASSERT_NE(table, std::string::npos);
  ++bytes[table + 15];
  std::ofstream(path, std::ios::binary) << bytes;
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const CacheStats stats = expect_same(1);
  EXPECT_EQ(stats.hits, kImages - 3);
  EXPECT_EQ(expect_same(2).damaged, 0U);
}

TEST_F(LoaderCacheTest, StopsAtTheBudget) {
  LoaderOptions options = cached();
  options.cache_bytes = 30'000;
  CacheStats stats;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_EQ(epoch_of(options, epoch, &stats).hash, epoch_of(plain(), epoch).hash);
  }
  EXPECT_THAT(reason_to_stop(*open(options)), HasSubstr("30000 bytes"));
  EXPECT_GT(stats.hits, 0U);
  EXPECT_LT(stats.hits, kImages);
  std::uintmax_t sum = 0;
  for (const fs::path& file : files()) sum += fs::file_size(file);
  EXPECT_LE(sum, 30'000U);
}

TEST_F(LoaderCacheTest, LeavesAFullDiskAlone) {
  const auto storage = std::make_shared<TestFiles>();
  storage->fill_disk();
  const auto loader = open(cached(), storage);
  EXPECT_EQ(run_epoch(*loader, 0).hash, epoch_of(plain(), 0).hash);
  EXPECT_EQ(run_epoch(*loader, 1).hash, epoch_of(plain(), 1).hash);
  EXPECT_THAT(reason_to_stop(*loader), HasSubstr("bytes free"));
  const CacheStats stats = loader->cache_stats();
  EXPECT_EQ(stats.kept, 0U);
  EXPECT_THAT(describe(stats), testing::Contains(HasSubstr("bytes free")));
}

TEST_F(LoaderCacheTest, AWriteThatFailsOrAKillAtAnyWriteChangesNoPixels) {
  std::vector<std::uint64_t> expected;
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    expected.push_back(epoch_of(plain(), epoch).hash);
  }
  int writes = 1;
  for (int last = 0; last < writes; ++last) {
    TestFolder cache;
    LoaderOptions options = cached();
    options.cache_dir = cache.path();
    const auto storage = std::make_shared<TestFiles>(last);
    if (const auto loader = Loader::open(options, [&] {
          LoaderParts parts = LoaderParts::real();
          parts.cache_files = storage;
          return parts;
        }())) {
      EXPECT_EQ(run_epoch(**loader, 0).hash, expected[0]) << "write " << last;
    }
    if (last == 0) {  // how many there are in all
      const auto counting = std::make_shared<TestFiles>();
      TestFolder other;
      options.cache_dir = other.path();
      (void)run_epoch(*open(options, counting), 0);
      writes = counting->writes();
      EXPECT_GT(writes, static_cast<int>(2 * kImages));
      options.cache_dir = cache.path();
    }
    // The next process goes on with what it finds.
    EXPECT_EQ(epoch_of(options, 1).hash, expected[1]) << "write " << last;
    CacheStats stats;
    EXPECT_EQ(epoch_of(options, 0, &stats).hash, expected[0]) << "write " << last;
    EXPECT_EQ(stats.hits, kImages) << "write " << last;
  }
}

TEST_F(LoaderCacheTest, DamagedCopiesAreReplacedByTheOriginals) {
  (void)expect_same(0);
  const fs::path copies = file("copies-00.ush");
  const auto size = fs::file_size(copies);
  std::string bytes(size, '\0');
  std::ifstream(copies, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(size));
  for (std::size_t at = 700; at < bytes.size(); at += 997)
    bytes[at] = static_cast<char>(~bytes[at]);
  std::ofstream(copies, std::ios::binary) << bytes;
  EXPECT_GT(expect_same(1).damaged, kImages / 2);
  EXPECT_EQ(expect_same(2).damaged, 0U) << "they were made anew";
}

TEST_F(LoaderCacheTest, FilesThatShrinkOrAreDamagedAreAsIfTheyHadNoCopies) {
  (void)expect_same(0);
  fs::resize_file(file("copies-00.ush"), 5000);
  EXPECT_GT(expect_same(1).damaged, 0U);
  fs::resize_file(file("slots"), 300);
  (void)expect_same(2);
  std::fstream(file("slots"), std::ios::in | std::ios::out | std::ios::binary) << "damaged!";
  (void)expect_same(3);
  EXPECT_EQ(expect_same(4).hits, kImages);
}

TEST_F(LoaderCacheTest, DamagedFilesAreNeverKept) {
  folder_.truncate(7);
  LoaderOptions options = cached();
  options.on_error = OnError::kSkip;
  LoaderOptions uncached = plain();
  uncached.on_error = OnError::kSkip;
  for (const bool accept : {false, true}) {
    options.accept_damaged = uncached.accept_damaged = accept;
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      CacheStats stats;
      EXPECT_EQ(epoch_of(options, epoch, &stats).hash, epoch_of(uncached, epoch).hash);
      EXPECT_LT(stats.hits, kImages);
    }
  }
}

TEST_F(LoaderCacheTest, FilesThatAreDamagedBelowACropLoadAsWithoutACache) {
  for (int i = 0; i < static_cast<int>(kImages); ++i) {
    write(i, JpegKind::kGrey, 60 + 3 * i, 90 - i);
    std::fstream file(folder_.path_of(i), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(fs::file_size(folder_.path_of(i)), '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::size_t frame = bytes.find("\xFF\xC0");
    ASSERT_NE(frame, std::string::npos);
    bytes[frame + 11] = '\x22';  // libjpeg then decodes two rows of blocks at a time
    const std::size_t scan = bytes.find("\xFF\xDA");
    const std::size_t middle = scan + (bytes.size() - scan) * static_cast<std::size_t>(3 + i) / 30;
    bytes.replace(middle, 2, "\xFF\xD9");  // the end of the image
    file.seekp(0);
    file << bytes;
  }
  LoaderOptions options = cached();
  LoaderOptions uncached = plain();
  options.on_error = uncached.on_error = OnError::kSkip;
  for (std::uint32_t epoch = 0; epoch < 10; ++epoch) {
    const EpochResult expected = epoch_of(uncached, epoch);
    const EpochResult got = epoch_of(options, epoch);
    EXPECT_EQ(got.counts, expected.counts) << "epoch " << epoch;
    EXPECT_EQ(got.hash, expected.hash) << "epoch " << epoch;
  }
}

TEST_F(LoaderCacheTest, RanksReadWhatTheOthersWrote) {
  std::vector<std::unique_ptr<Loader>> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    LoaderOptions options = cached();
    options.rank = rank;
    options.world_size = 3;
    options.rank_remainder = RankRemainder::kDrop;
    ranks.push_back(open(options));
  }
  for (const auto& rank : ranks) ASSERT_FALSE(run_epoch(*rank, 0).error);
  ranks.clear();
  const std::size_t made = files().size();
  EXPECT_GE(made, 2U);
  EXPECT_LE(made, 4U) << "each rank has at most a file of its own";
  EXPECT_EQ(expect_same(1).hits, kImages - 1);
  (void)expect_same(2);
  EXPECT_EQ(files().size(), made) << "files that were left are used again";
}

TEST_F(LoaderCacheTest, AForkedChildLeavesTheCacheToItsParent) {
  auto loader = open(cached());
  ASSERT_FALSE(run_epoch(*loader, 0).error);
  const pid_t child = ::fork();
  if (child == 0) {
    loader.reset();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(run_epoch(*loader, 1).hash, epoch_of(plain(), 1).hash);
}

TEST_F(LoaderCacheTest, AnotherFolderWithTheSameNamesHasItsOwnCopies) {
  (void)expect_same(0);
  const test::JpegFolder other;
  LoaderOptions options = cached();
  options.root = other.options().root;
  CacheStats stats;
  (void)epoch_of(options, 1, &stats);
  EXPECT_EQ(stats.hits, 0U);
}

TEST_F(LoaderCacheTest, SaysWhyThereIsNone) {
  LoaderOptions options = cached();
  const std::string blocked = cache_.path() + "/file";
  std::ofstream(blocked) << "x";
  options.cache_dir = blocked + "/cache";
  const auto failed = Loader::open(options);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr(blocked));
  EXPECT_TRUE(describe(open(plain())->cache_stats()).empty());
}

TEST(LoaderCacheStress, LoadersOfOneFolderShareItsCopies) {
  const test::JpegFolder folder;
  const TestFolder cache;
  LoaderOptions plain = folder.options();
  plain.keep_index = false;
  LoaderOptions cached = plain;
  cached.cache_dir = cache.path();
  LoaderParts parts = LoaderParts::real();
  parts.cache_files = std::make_shared<TestFiles>();
  const auto reference = Loader::open(plain);
  auto loader = Loader::open(cached, parts);
  auto two = Loader::open(cached, parts);
  ASSERT_TRUE(loader && two && reference);
  std::vector<std::uint64_t> expected;
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    expected.push_back(run_epoch(**reference, epoch).hash);
  }
  std::jthread other([&] {
    for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
      EXPECT_EQ(run_epoch(**two, epoch).hash, expected[epoch]);
      (void)(*loader)->cache_stats();
    }
  });
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(run_epoch(**loader, epoch).hash, expected[epoch]);
  }
}

}  // namespace
}  // namespace unstarve::feed
