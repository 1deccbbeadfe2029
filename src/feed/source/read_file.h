#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/sample_source.h"

namespace unstarve::feed {

/// The file's bytes, in `buffer`, which keeps its memory from call to call. Files larger than
/// `max_bytes` and what is not a regular file are errors.
///
/// open, fstat, pread, close. From the page cache this beats mapping the file, whose page faults
/// cost more than the copy at the size of photographs.
Result<std::span<const std::byte>> read_file(io::Files& files, const std::string& path,
                                             std::int64_t max_bytes,
                                             std::vector<std::byte>& buffer);

/// A failure to read, with the file that it concerns.
tl::unexpected<Error> failed_at(const std::string& path, Error error);

/// See SampleReader::hint().
ReadHint hint_file(io::Files& files, const std::string& path);

/// Whether the file has changed can be seen from it.
Result<FileStamp> stamp_at(io::Files& files, const std::string& path);
Result<FileStamp> stamp_of(io::Files& files, int file);

/// Reads samples that are files of their own. `List` gives their paths: write_path(index, path).
template <class List>
class ListedFilesReader final : public SampleReader {
 public:
  /// Both must outlive the reader.
  ListedFilesReader(const List& list, io::Files& files, std::int64_t max_file_bytes)
      : list_(list), files_(files), max_file_bytes_(max_file_bytes) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    list_.write_path(index, path_);
    const Result<std::span<const std::byte>> bytes =
        read_file(files_, path_, max_file_bytes_, buffer_);
    if (!bytes) return forward_error(bytes);
    return EncodedSample{SampleForm::kFile, *bytes};
  }

  ReadHint hint(std::uint64_t index) override {
    list_.write_path(index, path_);
    return hint_file(files_, path_);
  }

  Result<FileStamp> stamp(std::uint64_t index) override {
    list_.write_path(index, path_);
    return stamp_at(files_, path_);
  }

 private:
  const List& list_;
  io::Files& files_;
  const std::int64_t max_file_bytes_;
  std::string path_;  // both keep their memory from sample to sample
  std::vector<std::byte> buffer_;
};

}  // namespace unstarve::feed
