#pragma once

#include <array>
#include <cstdint>

#include "feed/data/sample_source.h"
#include "feed/shard/format.h"

namespace unstarve::feed {

// The file `slots` of a data set's cache: a header and, for each sample, one entry of the same
// size. Little-endian, no padding, each structure with the XXH3 of its other bytes in its last
// eight, as in shards. The copies lie in `copies-00.ush`, ...: shards without a table, each of
// which one process at a time appends to.

constexpr std::uint32_t kCacheVersion = 1;
constexpr Magic kCacheMagic = {'U', 'N', 'S', 'T', 'S', 'L', 'O', 'T'};

struct CacheHeader {
  Magic magic = kCacheMagic;
  std::uint32_t version = kCacheVersion;
  std::uint32_t reserved = 0;
  std::uint64_t key = 0;  // of the data set
  std::uint64_t samples = 0;
  std::array<std::uint64_t, 3> reserved_too = {};
  std::uint64_t checksum = 0;
};

enum class CacheState : std::uint16_t {
  kEmpty = 0,
  kKept = 1,
  kRefused = 2,  // the file has no other form
};

/// What is known of one sample. All zero, which is not sealed: nothing.
struct CacheEntry {
  std::uint64_t offset = 0;  // of the payload in its file
  std::uint64_t size = 0;    // of the payload
  std::uint64_t source_size = 0;
  std::int64_t source_mtime_ns = 0;
  std::int64_t source_ctime_ns = 0;
  std::uint32_t head_size = 0;
  std::uint16_t file = 0;
  std::uint16_t state = 0;          // a CacheState
  std::uint64_t head_checksum = 0;  // of the payload's head, which has the rows' checksums in it
  // Of the bytes before, XOR that of the data set's key and the sample's index.
  std::uint64_t checksum = 0;
};

static_assert(sizeof(CacheHeader) == 64);
static_assert(sizeof(CacheEntry) == 64);

inline bool is_of(const CacheEntry& entry, const FileStamp& stamp) {
  return entry.source_size == stamp.size && entry.source_mtime_ns == stamp.mtime_ns &&
         entry.source_ctime_ns == stamp.ctime_ns;
}

}  // namespace unstarve::feed
