#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

struct libdeflate_decompressor;

namespace unstarve::feed {

/// Unpacks a zlib stream whose length is known. Thread rule: one thread at a time.
class Inflater {
 public:
  /// Fills `out`. Errors: kCorruptData where the stream is damaged or holds another number of
  /// bytes; kOutOfMemory.
  Status inflate(std::span<const std::byte> stream, std::span<std::byte> out);

 private:
  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const;
  };
  std::unique_ptr<libdeflate_decompressor, Free> decompressor_;  // since the first stream
};

/// The checksum of a PNG's chunk.
std::uint32_t crc32_of(std::span<const std::byte> bytes);

}  // namespace unstarve::feed
