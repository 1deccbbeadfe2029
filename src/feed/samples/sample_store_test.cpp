#include "feed/samples/sample_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/test_folder.h"

namespace unstarve::feed {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::uint64_t kStoredSamples = 5;
constexpr std::uint64_t kState = 77;

using StoreParts = std::vector<std::span<const std::byte>>;

std::span<const std::byte> text_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class SampleStoreTest : public testing::Test {
 protected:
  SampleStore::Options options(std::uint64_t max_bytes = 1000) const {
    return {folder_.path() + "/store", kStoredSamples, max_bytes};
  }
  std::unique_ptr<SampleStore> open(std::uint64_t max_bytes = 1000) const {
    auto store = SampleStore::open(io::plain_files(), options(max_bytes));
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }
  static bool write(SampleStore& store, std::uint64_t index, std::string_view text,
                    std::uint64_t state = kState) {
    const auto kept = store.write(index, state, StoreParts{text_bytes(text)});
    EXPECT_TRUE(kept) << kept.error().message;
    return kept && *kept;
  }
  static std::string read(SampleStore& store, std::uint64_t index, std::uint64_t state = kState) {
    const auto record = store.read(index, state);
    if (!record) return "none";
    return {reinterpret_cast<const char*>(record->bytes.get()), record->size};
  }

  TestFolder folder_;
};

TEST_F(SampleStoreTest, ASampleIsReadByAllWhoHaveTheFolderOpen) {
  const auto store = open();
  const auto other = open();
  const auto kept =
      store->write(3, kState, StoreParts{text_bytes("a sample"), text_bytes(" of two parts")});
  ASSERT_TRUE(kept && *kept);
  EXPECT_EQ(read(*store, 3), "a sample of two parts");
  EXPECT_EQ(read(*other, 3), "a sample of two parts");
  EXPECT_EQ(read(*other, 2), "none");
  EXPECT_EQ(read(*other, kStoredSamples), "none");
  EXPECT_EQ(other->counts().kept, 1U);
  store->count_served();
  EXPECT_EQ(other->counts().served, 1U);
  EXPECT_EQ(other->counts().bytes, 21U);
}

TEST_F(SampleStoreTest, ARecordBeginsAtAMultipleOf64) {
  const auto store = open();
  ASSERT_TRUE(write(*store, 0, "abc"));
  ASSERT_TRUE(write(*store, 1, "defg"));
  const auto record = store->read(1, kState);
  ASSERT_TRUE(record);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(record->bytes.get()) % 64, 0U);
}

TEST_F(SampleStoreTest, OfAnotherStateThereIsNone) {
  const auto store = open();
  ASSERT_TRUE(write(*store, 1, "first"));
  EXPECT_EQ(read(*store, 1, kState + 1), "none");
  ASSERT_TRUE(write(*store, 1, "second", kState + 1));
  EXPECT_EQ(read(*store, 1, kState), "none");
  EXPECT_EQ(read(*store, 1, kState + 1), "second");
}

TEST_F(SampleStoreTest, WhatFitsIsKept) {
  const auto store = open(10);
  EXPECT_TRUE(write(*store, 0, "12345678"));
  EXPECT_FALSE(write(*store, 1, "123"));
  EXPECT_TRUE(write(*store, 2, "12")) << "a smaller one still fits";
  EXPECT_EQ(store->counts().bytes, 10U);
  EXPECT_EQ(read(*store, 0), "12345678");
  EXPECT_EQ(read(*store, 1), "none");
}

TEST_F(SampleStoreTest, RevokedItIsSoForAll) {
  const auto store = open();
  const auto other = open();
  ASSERT_TRUE(write(*store, 0, "wrong"));
  other->revoke();
  EXPECT_EQ(read(*store, 0), "none");
  EXPECT_FALSE(write(*store, 1, "more"));
  EXPECT_EQ(read(*open(), 0), "none");
}

TEST_F(SampleStoreTest, AForkedChildWritesAFileOfItsOwn) {
  const auto store = open();
  ASSERT_TRUE(write(*store, 0, "the parent's"));
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool kept = write(*store, 1, "the child's") && read(*store, 0) == "the parent's";
    ::_exit(kept ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(write(*store, 2, "more"));
  EXPECT_EQ(read(*store, 1), "the child's");
  EXPECT_EQ(read(*store, 2), "more");
  EXPECT_TRUE(fs::exists(folder_.path() + "/store/records-00001"));
}

TEST_F(SampleStoreTest, WhatIsDamagedIsNotThere) {
  const auto store = open();
  ASSERT_TRUE(write(*store, 0, "a sample"));
  ASSERT_TRUE(write(*store, 1, "another"));
  ASSERT_TRUE(write(*store, 2, "a third"));
  const std::string records = folder_.path() + "/store/records-00000";
  std::fstream(records, std::ios::in | std::ios::out | std::ios::binary) << "A";
  EXPECT_EQ(read(*store, 0), "none");
  EXPECT_EQ(read(*store, 1), "another");
  fs::resize_file(records, 16);
  EXPECT_EQ(read(*store, 2), "none") << "it was cut off";
  // An entry in another's place, and one that is half written.
  const std::string entries = folder_.path() + "/store/entries";
  std::ifstream file(entries, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  bytes.replace(0, 64, bytes.substr(64, 64));
  bytes[64 + 8] ^= 1;
  std::ofstream(entries, std::ios::binary) << bytes;
  EXPECT_EQ(read(*store, 0), "none");
  EXPECT_EQ(read(*store, 1), "none");
}

TEST_F(SampleStoreTest, AnotherDataSetsStoreIsRefused) {
  ASSERT_TRUE(open());
  SampleStore::Options other = options();
  other.samples = kStoredSamples + 1;
  const auto store = SampleStore::open(io::plain_files(), other);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(store.error().message, HasSubstr("of 5 samples, the data set has 6"));
  std::ofstream(folder_.path() + "/store/shared", std::ios::binary) << std::string(64, 'x');
  EXPECT_EQ(SampleStore::open(io::plain_files(), options()).error().code, ErrorCode::kNotSupported);
}

/// Fails from the n-th write on.
class FullStoreDisk : public io::Files {
 public:
  explicit FullStoreDisk(int writes) : writes_(writes) {}
  Result<std::size_t> write_at(int file, std::uint64_t offset,
                               std::span<const std::byte> bytes) override {
    if (writes_-- <= 0) return fail_errno(ENOSPC, "write");
    return io::Files::write_at(file, offset, bytes);
  }

 private:
  int writes_;
};

TEST_F(SampleStoreTest, AFullStoreDiskIsSaidAndLeavesNoHalfSample) {
  for (const int writes : {0, 1}) {  // of the record, of its entry
    auto store = SampleStore::open(std::make_shared<FullStoreDisk>(writes), options());
    ASSERT_TRUE(store) << store.error().message;
    const auto kept = (*store)->write(0, kState, StoreParts{text_bytes("a sample")});
    ASSERT_FALSE(kept);
    EXPECT_THAT(kept.error().message, HasSubstr(folder_.path()));
    EXPECT_EQ(read(**store, 0), "none");
  }
}

}  // namespace
}  // namespace unstarve::feed
