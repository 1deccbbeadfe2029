#pragma once

#include <cstdint>

#include "base/io/files.h"

namespace unstarve::feed {

/// What SampleReader::hint() did.
enum class ReadHint {
  kNone,      // nothing: this source has no use for hints
  kInMemory,  // the sample's first bytes lay in memory already
  kFetching,  // the system was asked to fetch the sample
};

/// What a hint may ask for: with the number of samples that are announced ahead, this bounds the
/// memory that read-ahead takes.
constexpr std::uint64_t kMaxHintedBytes = std::uint64_t{4} << 20;

/// Asks the system to fetch `size` bytes of an open file, at most kMaxHintedBytes, into the page
/// cache, unless the first of them is there.
ReadHint hint_range(io::Files& files, int file, std::uint64_t offset, std::uint64_t size);

}  // namespace unstarve::feed
