#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"

namespace unstarve::feed {

/// By what a tar is known again.
struct TarStamp {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;       // bytes
  std::int64_t changed_ns = 0;  // time of the last modification
  bool operator==(const TarStamp&) const = default;
};

/// The image of one sample.
struct TarSample {
  static constexpr std::int32_t kNoLabel = std::numeric_limits<std::int32_t>::min();
  std::uint64_t offset = 0;  // of its bytes in the tar
  std::uint32_t size = 0;
  std::int32_t label = kNoLabel;
};

/// What a tar holds, as WebDataset groups it: neighbours whose paths are the same up to the first
/// dot of the file's name are one sample. Its image is what ends in .jpg or .jpeg, its label the
/// number in .cls; a label that lies apart from its image is its label all the same.
struct TarIndex {
  TarStamp stamp;
  std::vector<TarSample> samples;
  std::uint64_t other_count = 0;    // samples whose image is in another format
  std::uint64_t other_offset = 0;   // of the first of these
  std::uint64_t orphan_count = 0;   // labels without an image
  std::uint64_t orphan_offset = 0;  // of the first of these

  /// Reads the headers only, and the labels. Errors name the place in the tar. `accept_cut`: a tar
  /// that ends too early is none; the sample at its end is_cut(), those behind it are not known.
  static Result<TarIndex> scan(io::Files& files, int file, bool accept_cut = false);
  /// The sample lies past the end of the tar, wholly or in part.
  bool is_cut(const TarSample& sample) const {
    return sample.offset > stamp.size || sample.size > stamp.size - sample.offset;
  }
};

/// The stamp of an open file.
Result<TarStamp> tar_stamp(io::Files& files, int file);

/// An index as bytes, checksummed, and back. kCorruptData where they are no index.
std::vector<std::byte> pack_tar_index(const TarIndex& index);
Result<TarIndex> unpack_tar_index(std::span<const std::byte> bytes);

}  // namespace unstarve::feed
