#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace unstarve::feed::index_format {

static_assert(std::endian::native == std::endian::little, "the index is read as it lies");

// The last character is the version.
constexpr std::array<char, 8> kMagic = {'u', 's', 't', 'i', 'n', 'd', 'x', '1'};
constexpr std::uint32_t kNoLabel = 0xFFFFFFFF;  // of folders that hold no samples

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t checksum = 0;  // XXH3-64, seeded with seed(), of all that follows the header
  std::uint64_t sample_count = 0;
  std::uint64_t names_size = 0;    // bytes
  std::uint64_t root_hash = 0;     // XXH3-64 of the root's path, whose index this is
  std::uint64_t fingerprint = 0;   // of names and labels
  std::uint32_t folder_count = 0;  // records
  std::uint32_t reserved = 0;

  /// Covers the header's own fields by the checksum.
  std::uint64_t seed() const {
    std::uint64_t mixed = 0;
    for (const std::uint64_t field : {sample_count, names_size, root_hash, fingerprint,
                                      std::uint64_t{folder_count}, std::uint64_t{reserved}}) {
      mixed = (mixed ^ field) * 0x9E3779B97F4A7C15ULL;
      mixed ^= mixed >> 29;
    }
    return mixed;
  }
};
static_assert(sizeof(Header) == 56);

/// One folder. Its block of names: its path, the files' names, and that of its first image in
/// another format. The files' ends count from the block's start.
struct Record {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t first_sample = 0;
  std::uint64_t names_begin = 0;
  std::uint32_t path_length = 0;
  std::uint32_t label = kNoLabel;
  std::uint32_t parent = 0;
  std::uint32_t other_count = 0;
  std::uint32_t other_length = 0;
  std::uint32_t trusted = 0;
};
static_assert(sizeof(Record) == 64);

inline std::uint64_t ends_at(const Header& header) {
  return sizeof(Header) + header.folder_count * sizeof(Record);
}

inline std::uint64_t names_at(const Header& header) {
  return ends_at(header) + header.sample_count * sizeof(std::uint32_t);
}

}  // namespace unstarve::feed::index_format
