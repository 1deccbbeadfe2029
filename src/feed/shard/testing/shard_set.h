#pragma once

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/testing/test_folder.h"
#include "feed/shard/shard_set_writer.h"
#include "feed/shard/shard_source.h"

namespace unstarve::feed::test {

/// A sample whose every part follows from its index.
struct MadeSample {
  explicit MadeSample(std::uint64_t number) : index(number) {
    name = "class" + std::to_string(index % 3) + "/picture" + std::to_string(index) + ".jpg";
    for (std::uint64_t i = 0; i < 40 + index * 37 % 150; ++i) {
      payload.push_back(static_cast<std::byte>(i * 31 + index * 7));
    }
    original.assign(payload.rbegin(), payload.rend());
    original.resize(original.size() + 5);
  }
  ShardSample view() const {
    ShardSample sample;
    sample.kind = static_cast<PayloadKind>(index % kPayloadKinds);
    sample.index = index;
    sample.label = static_cast<std::int32_t>(index % 3);
    sample.name = name;
    sample.payload = payload;
    sample.meta = std::span(payload).first(index % 5);
    sample.head_size = static_cast<std::uint32_t>(index % 7);
    sample.keep_original = index % 2 == 1;
    if (sample.keep_original) sample.original = original;
    sample.source_size = original.size();
    return sample;
  }

  std::uint64_t index;
  std::string name;
  std::vector<std::byte> payload;
  std::vector<std::byte> original;
};

/// Does not wait for the disk, which hundreds of runs of a test would do for minutes.
class QuickFiles : public io::Files {
 public:
  Status sync(int) override { return {}; }
};
/// From its n-th change of a file on nothing happens any more, as after a kill or on a full disk.
/// Of the write that fails first, `kept_ratio` reaches the file.
class DyingFiles final : public QuickFiles {
 public:
  DyingFiles(int nth, double kept_ratio) : nth_(nth), kept_ratio_(kept_ratio) {}

  Result<std::size_t> write_at(int file, std::uint64_t offset,
                               std::span<const std::byte> bytes) override {
    if (++calls_ < nth_) return Files::write_at(file, offset, bytes);
    if (calls_ == nth_) {
      const auto kept = static_cast<std::size_t>(kept_ratio_ * static_cast<double>(bytes.size()));
      const Result<std::size_t> put = Files::write_at(file, offset, bytes.first(kept));
      if (!put) return put;
    }
    return fail_errno(ENOSPC, "cannot write");
  }
  Status truncate(int file, std::uint64_t size) override {
    if (++calls_ < nth_) return Files::truncate(file, size);
    return fail_errno(EIO, "cannot cut");
  }
  Status sync(int file) override {
    if (++calls_ < nth_) return QuickFiles::sync(file);
    return fail_errno(EIO, "cannot sync");
  }
  Status rename(const std::string& from, const std::string& to) override {
    if (++calls_ < nth_) return Files::rename(from, to);
    return fail_errno(EIO, "cannot rename");
  }
  bool died() const { return calls_ >= nth_; }

 private:
  const int nth_;
  const double kept_ratio_;
  int calls_ = 0;
};

inline std::shared_ptr<io::Files> quick_files() { return std::make_shared<QuickFiles>(); }

/// Samples in shards of about a kilobyte.
inline ShardSetOptions small_set(const std::string& folder) {
  ShardSetOptions options;
  options.folder = folder;
  options.set_id = 42;
  options.shard_bytes = 1000;
  options.classes = {"class0", "class1", "class2"};
  return options;
}

/// Writes, or goes on with, a set of `count` samples; the first error ends it.
inline Status write_set(std::shared_ptr<io::Files> storage, const ShardSetOptions& options,
                        std::uint64_t count) {
  Result<ShardSetWriter> writer = ShardSetWriter::open(std::move(storage), options);
  if (!writer) return forward_error(writer);
  while (!writer->is_whole() && writer->samples() < count) {
    const MadeSample sample(writer->samples());
    if (Status status = writer->append(sample.view()); !status) return status;
  }
  return writer->finish();
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Changes one bit in place.
inline void flip_bit(const std::string& path, std::size_t at) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ (1 << at % 8)));
}

/// All files of a folder, one after the other, with their names.
inline std::string folder_bytes(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  std::string bytes;
  for (const std::string& name : names) {
    bytes += std::filesystem::path(name).filename().string() + read_file(name);
  }
  return bytes;
}

inline std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace unstarve::feed::test
