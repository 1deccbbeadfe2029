#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "feed/data/sample_source.h"

namespace unstarve::feed {

/// Reads whole files. A seam: the fault tests fail the n-th call.
/// Thread rule: read() may be called from any thread, each with a buffer of its own.
class FileReader {
 public:
  virtual ~FileReader() = default;
  /// The file's bytes, in `buffer`, which keeps its memory from call to call. Files larger than
  /// `max_bytes` and what is not a regular file are errors.
  virtual Result<std::span<const std::byte>> read(const std::string& path, std::int64_t max_bytes,
                                                  std::vector<std::byte>& buffer) = 0;
  /// As many bytes of an open file from `offset` on as it has, at most target.size(); for files
  /// that hold several samples.
  virtual Result<std::size_t> read_part(int fd, std::uint64_t offset, std::span<std::byte> target);
  /// See SampleReader::hint().
  virtual ReadHint hint(const std::string& /*path*/) { return ReadHint::kNone; }
  /// Whether the file has changed can be seen from it.
  virtual Result<FileStamp> stamp(const std::string& path);
  virtual Result<FileStamp> stamp(int fd);
};

/// open, fstat, pread, close. From the page cache this beats mapping the file, whose page faults
/// cost more than the copy at the size of photographs.
class PlainFileReader final : public FileReader {
 public:
  Result<std::span<const std::byte>> read(const std::string& path, std::int64_t max_bytes,
                                          std::vector<std::byte>& buffer) override;
  ReadHint hint(const std::string& path) override;
};

/// Reads samples that are files of their own. `List` gives their paths: write_path(index, path).
template <class List>
class ListedFilesReader final : public SampleReader {
 public:
  /// Both must outlive the reader.
  ListedFilesReader(const List& list, FileReader& files, std::int64_t max_file_bytes)
      : list_(list), files_(files), max_file_bytes_(max_file_bytes) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    list_.write_path(index, path_);
    const Result<std::span<const std::byte>> bytes = files_.read(path_, max_file_bytes_, buffer_);
    if (!bytes) return forward_error(bytes);
    return EncodedSample{SampleForm::kFile, *bytes};
  }

  ReadHint hint(std::uint64_t index) override {
    list_.write_path(index, path_);
    return files_.hint(path_);
  }

  Result<FileStamp> stamp(std::uint64_t index) override {
    list_.write_path(index, path_);
    return files_.stamp(path_);
  }

 private:
  const List& list_;
  FileReader& files_;
  const std::int64_t max_file_bytes_;
  std::string path_;  // both keep their memory from sample to sample
  std::vector<std::byte> buffer_;
};

}  // namespace unstarve::feed
