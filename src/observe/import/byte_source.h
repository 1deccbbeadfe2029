#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace unstarve::observe {

/// Bytes from a file, from memory, or from another source through gzip, first to last.
/// Thread rule: one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills the beginning of `target` and says how much; 0 only at the end.
  virtual Result<std::size_t> read(std::span<char> target) = 0;
  /// Bytes taken so far, as stored.
  virtual std::uint64_t done_bytes() const = 0;
  /// Bytes in all, as stored.
  virtual std::uint64_t total_bytes() const = 0;
  /// How messages call a position in what read() gives: "byte" or "decompressed byte".
  virtual const char* position_word() const { return "byte"; }
};

/// Opens a regular file; a gzip file (by its first bytes, not its name) comes out decompressed.
Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path);

/// Reads from memory that outlives the source; decompresses as open_byte_source does.
Result<std::unique_ptr<ByteSource>> make_memory_source(std::span<const char> bytes,
                                                       const std::string& name);

}  // namespace unstarve::observe
