#include "feed/pack/pack_job.h"
#include "base/io/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "feed/jpeg/testing/sampled_jpeg.h"
#include "feed/pack/unpack_job.h"
#include "feed/shard/testing/shard_set.h"
#include "feed/testing/made_jpeg.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;
using test::folder_bytes;
using test::JpegKind;
using testing::HasSubstr;

constexpr int kJpegs = 12;
constexpr std::uint64_t kOthers = 3;  // CMYK, 12 bits, PNG

std::string text_of(const std::vector<std::byte>& bytes) {
  return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
}

/// Two classes of small images of many kinds, and a file that is no image.
class PackJobTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(source_ + "/ants/deep");
    fs::create_directories(source_ + "/bees");
    constexpr JpegKind kKinds[] = {JpegKind::k420, JpegKind::k422, JpegKind::k444, JpegKind::kGrey,
                                   JpegKind::kProgressive};
    for (int i = 0; i < kJpegs; ++i) {
      test::write_file(path_of(i), text_of(test::make_jpeg(kKinds[i % 5], 40 + 9 * i, 70 - 3 * i)));
    }
    test::write_file(source_ + "/bees/cmyk.jpg", text_of(test::make_jpeg(JpegKind::kCmyk, 30, 20)));
    std::vector<std::byte> deep = test::make_jpeg(JpegKind::k420, 30, 20);
    test::patch_precision(deep, 12);
    test::write_file(source_ + "/bees/twelve.jpg", text_of(deep));
    test::write_file(source_ + "/bees/z.PNG", "not really a PNG");
    test::write_file(source_ + "/bees/notes.txt", "left out");
  }
  std::string path_of(int i) const {
    return fmt::format("{}/{}/{}.jpg", source_,
                       i < 4   ? "ants"
                       : i < 6 ? "ants/deep"
                               : "bees",
                       100 + i);
  }
  PackOptions options() const {
    PackOptions options;
    options.source = source_;
    options.target = target_;
    options.threads = 3;
    options.shard_bytes = 12'000;
    return options;
  }
  static PackParts quick(std::shared_ptr<io::Files> storage = test::quick_files()) {
    PackParts parts = PackParts::real();
    parts.storage = std::move(storage);
    return parts;
  }
  static Result<PackSummary> pack(const PackOptions& options, const PackParts& parts = quick()) {
    Result<PackJob> job = PackJob::open(options, parts);
    if (!job) return forward_error(job);
    return job->run([](const PackProgress&) {});
  }

  TestFolder folder_;
  const std::string source_ = folder_.path() + "/source";
  const std::string target_ = folder_.path() + "/shards";
};

TEST_F(PackJobTest, PacksJpegsAsCoefficientsAndTheRestAsBytes) {
  const auto summary = pack(options());
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->samples, kJpegs + kOthers);
  EXPECT_EQ(summary->coefficients, kJpegs);
  EXPECT_GT(summary->shards, 1U);
  EXPECT_EQ(summary->kept_as_bytes.size(), kOthers);
  EXPECT_EQ(summary->kept_as_bytes.at("not a JPEG").example, "bees/z.PNG");
  EXPECT_THAT(summary->cannot_be_decoded, testing::ElementsAre("bees/twelve.jpg"));

  const auto source = ShardSource::open(target_);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_THAT((*source)->classes(), testing::ElementsAre("ants", "bees"));
  EXPECT_THAT((*source)->locate(0), HasSubstr("ants/100.jpg"));
  EXPECT_THAT((*source)->locate(4), HasSubstr("ants/deep/104.jpg"));
  EXPECT_EQ((*source)->label(5), 0);
  EXPECT_EQ((*source)->label(6), 1);
}

TEST_F(PackJobTest, GivesTheSameBytesForAnyNumberOfThreads) {
  ASSERT_TRUE(pack(options()));
  const std::string expected = folder_bytes(target_);
  for (const int threads : {1, 2, 8}) {
    PackOptions others = options();
    others.threads = threads;
    others.target = fmt::format("{}{}", target_, threads);
    ASSERT_TRUE(pack(others));
    EXPECT_EQ(folder_bytes(others.target), expected);
  }
}

TEST_F(PackJobTest, GoesOnAfterEveryFailureAndEndsWithTheSameBytes) {
  ASSERT_TRUE(pack(options()));
  const std::string expected = folder_bytes(target_);
  for (int nth = 1;; nth += 3) {
    PackOptions broken = options();
    broken.target = fmt::format("{}-{}", target_, nth);
    const auto storage = std::make_shared<test::DyingFiles>(nth, 0.5);
    const auto first = pack(broken, quick(storage));
    if (!storage->died()) {
      EXPECT_TRUE(first);
      EXPECT_GT(nth, 20);
      break;
    }
    ASSERT_FALSE(first);
    const auto second = pack(broken);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_LE(second->packed_now, second->samples);
    EXPECT_EQ(folder_bytes(broken.target), expected) << nth;
  }
}

TEST_F(PackJobTest, SaysWhatToDoWhenTheDiskIsFull) {
  const auto summary = pack(options(), quick(std::make_shared<test::DyingFiles>(9, 0.3)));
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("samples-0000"));
  EXPECT_THAT(summary.error().message, HasSubstr("No space left on device"));
  EXPECT_THAT(summary.error().message, HasSubstr("run the same command again"));
}

TEST_F(PackJobTest, FindsWhatTheDiskChanged) {
  ASSERT_TRUE(pack(options()));
  test::flip_bit(shard_path(target_, 0), 3000);
  const auto again = pack(options());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kCorruptData);
  EXPECT_THAT(again.error().message, HasSubstr("samples-00000.ush"));
}

TEST_F(PackJobTest, EstimatesBeforeItStarts) {
  Result<PackJob> job = PackJob::open(options(), quick());
  ASSERT_TRUE(job);
  const auto estimate = job->estimate();
  ASSERT_TRUE(estimate) << estimate.error().message;
  EXPECT_EQ(estimate->samples, kJpegs + kOthers);
  EXPECT_EQ(estimate->left_out, 1U);
  EXPECT_GT(estimate->images_per_s, 0);
  const auto summary = job->run([](const PackProgress&) {});
  ASSERT_TRUE(summary);
  EXPECT_NEAR(estimate->source_bytes, static_cast<double>(summary->source_bytes), 1);
  EXPECT_NEAR(estimate->shard_bytes / static_cast<double>(summary->shard_bytes), 1.0, 0.25);
}

TEST_F(PackJobTest, NamesTheFileThatCannotBeRead) {
  fs::remove(path_of(7));
  fs::create_symlink("/no/such/file", path_of(7));
  const auto summary = pack(options());
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("bees/107.jpg"));
}

TEST_F(PackJobTest, RefusesATargetInsideOfTheSourceAndAnEmptySource) {
  PackOptions inside = options();
  inside.target = source_ + "/shards";
  EXPECT_THAT(pack(inside).error().message, HasSubstr("lies inside"));
  PackOptions empty = options();
  empty.source = folder_.path() + "/empty";
  fs::create_directories(empty.source);
  EXPECT_THAT(pack(empty).error().message, HasSubstr("holds no images"));
  EXPECT_FALSE(fs::exists(target_));
}

UnpackOptions unpacking(const std::string& from, const std::string& to) {
  UnpackOptions options;
  options.source = from;
  options.target = to;
  options.threads = 2;
  return options;
}

std::vector<std::byte> bytes_in(const std::string& path) {
  const std::string text = test::read_file(path);
  return test::copy_of(std::as_bytes(std::span(text)));
}

TEST_F(PackJobTest, UnpacksJpegsWithTheSamePixelsAndOtherFilesAsTheyWere) {
  ASSERT_TRUE(pack(options()));
  const std::string back = folder_.path() + "/back";
  const auto summary = unpack_shards(unpacking(target_, back), [](auto, auto) {});
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->samples, kJpegs + kOthers);
  EXPECT_EQ(summary->same_pixels, kJpegs);
  EXPECT_EQ(summary->identical, kOthers);
  for (int i = 0; i < kJpegs; ++i) {
    const std::string path = back + path_of(i).substr(source_.size());
    EXPECT_EQ(test::pixels_of_jpeg(bytes_in(path)), test::pixels_of_jpeg(bytes_in(path_of(i))))
        << path;
  }
  for (const char* name : {"/bees/cmyk.jpg", "/bees/twelve.jpg", "/bees/z.PNG"}) {
    EXPECT_EQ(test::read_file(back + name), test::read_file(source_ + name));
  }
}

TEST_F(PackJobTest, UnpacksIdenticalFilesWhereTheyWereKept) {
  PackOptions keeping = options();
  keeping.keep_original_bytes = true;
  ASSERT_TRUE(pack(keeping));
  const std::string back = folder_.path() + "/back";
  const auto summary = unpack_shards(unpacking(target_, back), [](auto, auto) {});
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->identical, kJpegs + kOthers);
  for (int i = 0; i < kJpegs; ++i) {
    EXPECT_EQ(test::read_file(back + path_of(i).substr(source_.size())),
              test::read_file(path_of(i)));
  }
}

TEST(Unpack, RefusesNamesThatLeadOutOfTheFolder) {
  for (const char* name : {"../x", "a/../../x", "/etc/passwd", "a//b", "", ".", "a/..", "a/"}) {
    EXPECT_FALSE(is_safe_name(name)) << name;
  }
  for (const char* name : {"a", "a/b.jpg", "..a/b..", "a/...", "a b/c\\d"}) {
    EXPECT_TRUE(is_safe_name(name)) << name;
  }
  const TestFolder folder;
  const std::string shards = folder.path() + "/shards";
  auto writer = ShardSetWriter::open(test::quick_files(), test::small_set(shards));
  ASSERT_TRUE(writer);
  ShardSample sample;
  sample.name = "../../escaped";
  ASSERT_TRUE(writer->append(sample));
  ASSERT_TRUE(writer->finish());
  const auto summary = unpack_shards(unpacking(shards, folder.path() + "/a/b"), [](auto, auto) {});
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message, HasSubstr("leads out of the folder"));
  EXPECT_FALSE(fs::exists(folder.path() + "/escaped"));
}

}  // namespace
}  // namespace unstarve::feed
