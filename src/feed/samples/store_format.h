#pragma once

#include <cstdint>

#include "feed/shard/format.h"

namespace unstarve::feed {

// A store is a folder: `shared`, which every process maps; `entries`, one of 64 bytes for each
// sample; and `records-00000`, ..., each of which one process appends to. It is of one job on one
// machine: numbers are in the machine's byte order.

constexpr std::uint32_t kStoreVersion = 1;
constexpr Magic kStoreMagic = {'U', 'N', 'S', 'T', 'S', 'A', 'M', 'P'};

/// What all processes count together, by atomic operations.
struct StoreShared {
  Magic magic = {};
  std::uint32_t version = 0;
  std::uint32_t revoked = 0;    // 1: nothing is read or written any more
  std::uint64_t samples = 0;    // 0: nobody has begun it
  std::uint64_t max_bytes = 0;  // of all records
  std::uint64_t bytes = 0;      // of all records
  std::uint64_t files = 0;      // that were begun
  std::uint64_t kept = 0;       // samples that were written
  std::uint64_t served = 0;     // samples that were read and used
};
static_assert(sizeof(StoreShared) == 64);

/// Where a sample lies. All zero, which is not sealed: nowhere.
struct StoreEntry {
  std::uint64_t state = 0;  // of the data set, in which the sample was made
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t record_checksum = 0;  // XXH3 of the record
  std::uint64_t file = 0;
  std::uint64_t reserved[2] = {};
  std::uint64_t checksum = 0;  // of the bytes before, XOR the sample's number
};
static_assert(sizeof(StoreEntry) == 64);

}  // namespace unstarve::feed
