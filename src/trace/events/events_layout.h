#pragma once

#include <cstddef>
#include <cstdint>

namespace unstarve::trace {

// The bytes of events-RANK.uev, shared by its writer and its reader; docs/formats/run.md.

inline constexpr char kEventsMagic[8] = {'U', 'N', 'S', 'T', 'E', 'V', 'T', '1'};
inline constexpr char kChunkMagic[4] = {'U', 'C', 'H', 'K'};

struct ChunkHeader {
  char magic[4] = {};
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t record_count = 0;
  std::uint64_t checksum = 0;  // xxh3 of the stored bytes
};
static_assert(sizeof(ChunkHeader) == 24);

// What a reader accepts, so that damaged lengths cannot make it ask for absurd memory. A writer
// stays below: it flushes at 524,288 events of 64 bytes at the latest. All chunks together are
// bounded too, and by the size of their file, since few bytes may unpack to many: those of real
// jobs unpack to 4 to 8 times their size.
inline constexpr std::size_t kChunkRawBytesMax = 64U << 20;
inline constexpr std::uint64_t kEventsRawBytesMax = 1ULL << 30;
inline constexpr std::uint64_t kRawBytesPerByteMax = 32;
/// After so many events, to the end of a chunk, reading ends. Diagnosing them takes 0.6 GB.
inline constexpr std::uint64_t kEventsReadMax = 7'500'000;
inline constexpr std::size_t kEventNameBytesMax = 4096;
inline constexpr std::size_t kRingNameBytesMax = 255;  // as long as Linux lets a file's name be
/// Different names of a file, their bytes, and rings that it has marks of. A writer gives later
/// events no name, and later rings no mark.
inline constexpr std::size_t kEventNamesMax = 1'000'000;
inline constexpr std::size_t kEventNamesBytesMax = 16U << 20;
inline constexpr std::size_t kEventRingsMax = 100'000;

}  // namespace unstarve::trace
