#include "feed/shard/shard_source.h"
#include "base/io/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "feed/shard/testing/shard_set.h"

namespace unstarve::feed {
namespace {

using test::copy_of;
using test::MadeSample;
using test::small_set;
using test::write_set;
using testing::HasSubstr;

constexpr std::uint64_t kShardSamples = 25;

class ShardSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_set(io::plain_files(), small_set(folder_.path()), kShardSamples));
  }
  TestFolder folder_;
};

void expect_sample(ShardSource& source, std::uint64_t at, const MadeSample& made) {
  std::vector<std::byte> buffer;
  const Result<RecordView> record = source.read_whole(at, buffer);
  ASSERT_TRUE(record) << record.error().message;
  const ShardSample sample = made.view();
  EXPECT_EQ(record->name, sample.name);
  EXPECT_EQ(copy_of(record->payload), made.payload);
  EXPECT_EQ(copy_of(record->meta), copy_of(sample.meta));
  EXPECT_EQ(copy_of(record->original), copy_of(sample.original));
  EXPECT_EQ(record->header.index, made.index);
  EXPECT_EQ(source.label(at), sample.label);
  EXPECT_THAT(source.locate(at), HasSubstr(made.name));
}

TEST_F(ShardSourceTest, GivesBackWhatWasWritten) {
  auto source = ShardSource::open(folder_.path());
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_EQ((*source)->size(), kShardSamples);
  EXPECT_GT((*source)->table().shards().size(), 3U);
  EXPECT_THAT((*source)->classes(), testing::ElementsAre("class0", "class1", "class2"));
  for (std::uint64_t i = 0; i < kShardSamples; ++i) expect_sample(**source, i, MadeSample(i));
  EXPECT_TRUE((*source)->table().verify());
}

TEST_F(ShardSourceTest, ReadsSamplesAsTheLoaderNeedsThem) {
  const auto source = ShardSource::open(folder_.path());
  const auto reader = (*source)->open_reader();
  for (std::uint64_t i = 0; i < kShardSamples; ++i) {
    const MadeSample made(i);
    const Result<EncodedSample> sample = (*reader)->read(i);
    ASSERT_TRUE(sample) << sample.error().message;
    if (sample->form != SampleForm::kCoefficients) {
      EXPECT_EQ(copy_of(sample->bytes), made.payload);
      EXPECT_EQ(sample->form, i % 4 == 0 ? SampleForm::kFile : SampleForm::kTensor);
      continue;
    }
    EXPECT_EQ(i % 4, 1U);
    EXPECT_EQ(sample->bytes.size(), made.view().head_size);
    std::vector<std::byte> buffer;
    const auto rest = (*reader)->read_part(10, made.payload.size() - 10, buffer);
    ASSERT_TRUE(rest);
    EXPECT_TRUE(std::equal(rest->begin(), rest->end(), made.payload.begin() + 10));
    EXPECT_EQ((*reader)->read_part(10, made.payload.size() - 9, buffer).error().code,
              ErrorCode::kCorruptData);
    EXPECT_EQ((*reader)->read_part(~std::uint64_t{0}, 2, buffer).error().code,
              ErrorCode::kCorruptData);
  }
  EXPECT_EQ((*reader)->read(kShardSamples).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ShardSourceTest, OpensOneShardOfASet) {
  const auto set = ShardSource::open(folder_.path() + "/" + kIndexName);
  const std::uint64_t first = (*set)->table().shards()[1].listing.first_sample;
  const auto shard = ShardSource::open(shard_path(folder_.path(), 1));
  ASSERT_TRUE(shard) << shard.error().message;
  EXPECT_EQ((*shard)->size(), (*set)->table().shards()[1].listing.samples);
  for (std::uint64_t i = 0; i < (*shard)->size(); ++i) {
    expect_sample(**shard, i, MadeSample(first + i));
  }
  EXPECT_NE((*shard)->fingerprint(), (*set)->fingerprint());
}

TEST_F(ShardSourceTest, ReadsTheWholeRecordsOfACutShard) {
  const std::string path = shard_path(folder_.path(), 1);
  std::uint64_t most = ShardSource::open(path).value()->size();
  const auto set = ShardSource::open(folder_.path());
  const std::uint64_t first = (*set)->table().shards()[1].listing.first_sample;
  const std::uint64_t last_start = (*set)->table().entry(first + most - 1)->offset;
  for (std::uint64_t size = std::filesystem::file_size(path); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    const auto prefix = ShardSource::open(path);
    if (!prefix) {
      EXPECT_LT(size, sizeof(ShardHeader));
      continue;
    }
    EXPECT_LE((*prefix)->size(), most);
    most = (*prefix)->size();
    if (size == last_start) {
      EXPECT_EQ(most + 1, (*set)->table().shards()[1].listing.samples);
    }
    for (std::uint64_t i = 0; i < most; ++i) expect_sample(**prefix, i, MadeSample(first + i));
  }
  EXPECT_EQ(most, 0U);
}

TEST_F(ShardSourceTest, RefusesSoundPartsInTheWrongPlace) {
  const std::string index_path = folder_.path() + "/" + kIndexName;
  // Two entries of the same label and kind change places: each is sealed, and so is its record.
  std::fstream file(index_path, std::ios::in | std::ios::out | std::ios::binary);
  std::vector<char> entries(kShardSamples * sizeof(TableEntry));
  const auto size = static_cast<std::streamsize>(entries.size());
  file.seekg(sizeof(TableHeader)).read(entries.data(), size);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    const auto entry = entries.begin() + static_cast<std::ptrdiff_t>(at * sizeof(TableEntry));
    std::swap_ranges(entry, entry + sizeof(TableEntry), entry + 12 * sizeof(TableEntry));
  }
  file.seekp(sizeof(TableHeader)).write(entries.data(), size);
  file.close();
  const auto set = ShardSource::open(folder_.path());
  ASSERT_TRUE(set) << set.error().message;
  const auto reader = (*set)->open_reader();
  std::vector<std::byte> buffer;
  for (const std::uint64_t at : {0U, 1U, 12U, 13U}) {
    const auto read = (*reader)->read(at);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr("another sample"));
    EXPECT_EQ((*set)->read_whole(at, buffer).error().code, ErrorCode::kCorruptData);
  }
  EXPECT_TRUE((*reader)->read(2));
  EXPECT_EQ((*set)->table().verify().error().code, ErrorCode::kCorruptData);
}

TEST_F(ShardSourceTest, RefusesASampleThatReachesBehindItsShardsRecords) {
  const std::string index_path = folder_.path() + "/" + kIndexName;
  std::string index = test::read_file(index_path);
  const auto set = ShardSource::open(folder_.path());
  ASSERT_TRUE(set) << set.error().message;
  TableEntry entry = *(*set)->table().entry(0);
  entry.size = (*set)->table().shards()[0].listing.records_end - entry.offset - entry.payload_start;
  const auto with_entry = [&] {
    seal(entry);
    std::memcpy(index.data() + sizeof(TableHeader), &entry, sizeof(entry));
    test::write_file(index_path, index);
    return ShardSource::open(folder_.path()).value()->table().entry(0);
  };
  EXPECT_TRUE(with_entry()) << "up to their end";
  ++entry.size;
  EXPECT_EQ(with_entry().error().code, ErrorCode::kCorruptData);
}

TEST_F(ShardSourceTest, AShardIsNoIndex) {
  const std::string index_path = folder_.path() + "/" + kIndexName;
  std::filesystem::copy_file(shard_path(folder_.path(), 1), index_path,
                             std::filesystem::copy_options::overwrite_existing);
  const auto set = ShardSource::open(folder_.path());
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr(kIndexName));
  EXPECT_THAT(set.error().message, HasSubstr("a shard's own table"));
}

/// Reads all there is; what is read must be what was written.
void expect_right_or_refused(const std::string& path, std::uint64_t first) {
  const auto source = ShardSource::open(path);
  if (!source) return;
  std::vector<std::byte> buffer;
  const auto reader = (*source)->open_reader();
  for (std::uint64_t i = 0; i < (*source)->size(); ++i) {
    const MadeSample made(first + i);
    const Result<EncodedSample> sample = (*reader)->read(i);
    if (sample) {
      const bool head_only = sample->form == SampleForm::kCoefficients;
      const auto wanted =
          std::span(made.payload).first(head_only ? made.view().head_size : made.payload.size());
      EXPECT_EQ(copy_of(sample->bytes), copy_of(wanted));
      EXPECT_EQ((*source)->label(i), made.view().label);
    }
    const Result<RecordView> record = (*source)->read_whole(i, buffer);
    if (record) {
      EXPECT_EQ(copy_of(record->payload), made.payload);
      EXPECT_EQ(copy_of(record->original), copy_of(made.view().original));
    }
    (void)(*source)->locate(i);
  }
  (void)(*source)->table().verify();
}

TEST_F(ShardSourceTest, ReadsNothingWrongFromDamagedFiles) {
  const auto set = ShardSource::open(folder_.path());
  const std::uint64_t first = (*set)->table().shards()[1].listing.first_sample;
  const std::string shard = shard_path(folder_.path(), 1);
  for (std::size_t at = 0; at < std::filesystem::file_size(shard); ++at) {
    test::flip_bit(shard, at);
    expect_right_or_refused(shard, first);
    test::flip_bit(shard, at);
  }
  const std::string index = folder_.path() + "/" + kIndexName;
  for (std::size_t at = 0; at < std::filesystem::file_size(index); ++at) {
    test::flip_bit(index, at);
    expect_right_or_refused(folder_.path(), 0);
    test::flip_bit(index, at);
  }
  EXPECT_TRUE((*set)->table().verify());
}

TEST_F(ShardSourceTest, NamesAShardThatIsGoneShrunkenOrAnother) {
  auto set = ShardSource::open(folder_.path());
  std::vector<std::byte> buffer;
  ASSERT_TRUE((*set)->read_whole(0, buffer));
  std::filesystem::resize_file(shard_path(folder_.path(), 0), 100);
  const auto reader = (*set)->open_reader();
  EXPECT_EQ((*reader)->read(0).error().code, ErrorCode::kCorruptData);

  set = ShardSource::open(folder_.path());
  EXPECT_THAT((*set)->read_whole(0, buffer).error().message, HasSubstr("samples-00000.ush"));
  std::filesystem::copy_file(shard_path(folder_.path(), 1), shard_path(folder_.path(), 0),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT((*set)->read_whole(0, buffer).error().message, HasSubstr("is not the shard"));
  std::filesystem::remove(shard_path(folder_.path(), 0));
  EXPECT_EQ((*set)->read_whole(0, buffer).error().code, ErrorCode::kNotFound);
}

TEST(ShardSource, SaysWhatIsMissing) {
  const TestFolder folder;
  EXPECT_THAT(ShardSource::open(folder.path()).error().message, HasSubstr("holds no shards"));
  EXPECT_FALSE(ShardSource::is_shards(folder.path()));
  ASSERT_TRUE(ShardSetWriter::open(test::quick_files(), small_set(folder.path()))
                  ->append(MadeSample(0).view()));
  EXPECT_TRUE(ShardSource::is_shards(folder.path()));
  EXPECT_THAT(ShardSource::open(folder.path()).error().message, HasSubstr("interrupted"));
  const std::string other = folder.path() + "/other.ush";
  test::write_file(other, std::string(500, 'x'));
  EXPECT_THAT(ShardSource::open(other).error().message, HasSubstr("not a shard"));
}

TEST(ShardSource, KeepsFewOfManyShardsOpen) {
  const TestFolder folder;
  ShardSetOptions options = small_set(folder.path());
  options.shard_bytes = 1;  // a shard for each sample
  constexpr std::uint64_t kShards = OpenShards::kOpenMax + 20;
  ASSERT_TRUE(write_set(test::quick_files(), options, kShards));
  const auto source = ShardSource::open(folder.path());
  ASSERT_EQ((*source)->table().shards().size(), kShards);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < kShards; ++i) expect_sample(**source, i, MadeSample(i));
  }
  const auto descriptors = std::filesystem::directory_iterator("/proc/self/fd");
  EXPECT_LT(static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors))),
            OpenShards::kOpenMax + 20);
}

TEST(ShardSource, OpensAMillionSamplesWithoutReadingThem) {
  const TestFolder folder;
  const std::string path = folder.path() + "/" + kIndexName;
  constexpr std::uint64_t kShards = 100;
  constexpr std::uint64_t kEach = 10'000;
  TablePlan plan;
  plan.has_labels = true;
  const std::string name = "n01440764/n01440764_10026.JPEG";
  plan.names_size = kShards * kEach * name.size();
  for (std::uint64_t i = 0; i < kShards; ++i) {
    plan.shards.push_back({fmt::format("samples-{:05}.ush", i), {1 << 30, i * kEach, kEach, 0, 0}});
  }
  plan.piece = [&](std::size_t) -> Result<TablePiece> {
    RecordHeader header;
    header.name_size = static_cast<std::uint16_t>(name.size());
    TablePiece piece;
    piece.entries.assign(kEach, entry_of(header, sizeof(ShardHeader), name));
    for (std::uint64_t i = 0; i < kEach; ++i) piece.names += name;
    return piece;
  };
  const auto storage = test::quick_files();
  ASSERT_TRUE(write_table(*storage, open_to_write(*storage, path)->get(), 0, plan));

  // Counts what opening and reading some samples reads from the file.
  struct CountingFiles final : test::QuickFiles {
    Result<std::size_t> read_at(int file, std::uint64_t offset,
                                std::span<std::byte> target) override {
      bytes += target.size();
      return Files::read_at(file, offset, target);
    }
    std::uint64_t bytes = 0;
  };
  const auto counting = std::make_shared<CountingFiles>();
  const auto source = ShardSource::open(folder.path(), counting);
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->size(), kShards * kEach);
  EXPECT_THAT((*source)->locate(999'999), HasSubstr(name));
  EXPECT_LT(counting->bytes, kShards * kEach * 5);  // the labels and little else
}

}  // namespace
}  // namespace unstarve::feed
