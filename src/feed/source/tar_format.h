#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace unstarve::feed {

constexpr std::uint64_t kTarBlock = 512;  // all in a tar begins at a multiple of it

/// One regular file in a tar.
struct TarMember {
  std::string name;
  std::uint64_t offset = 0;  // of its bytes in the tar
  std::uint64_t size = 0;
};

/// Reads the headers of a tar (POSIX ustar and pax, GNU with long names, the old v7), block by
/// block, as whoever holds the bytes asks for them:
///
///   TarScanner scanner;
///   for (;;) {
///     Result<TarScanner::Step> step = scanner.next(bytes at scanner.offset(), scanner.wanted());
///     if (step->kind == kMember) ... step->member; if (step->kind == kEnd) break;
///   }
///
/// Bounded: names and pax records above 1 MiB are refused, sizes above 2^62 too. Thread rule: one
/// thread at a time.
class TarScanner {
 public:
  enum class Kind {
    kMore,    // a header that only describes the next; go on
    kMember,  // `member` is a regular file
    kEnd,     // the tar's end mark
  };
  struct Step {
    Kind kind = Kind::kMore;
    TarMember member = {};
  };

  /// Where the next header lies.
  std::uint64_t offset() const { return offset_; }
  /// Bytes that next() wants from offset() on.
  std::size_t wanted() const { return wanted_; }
  /// Takes wanted() bytes. kCorruptData where they are no header.
  Result<Step> next(std::span<const std::byte> bytes);

 private:
  enum class Body { kNone, kPax, kLongName };
  Result<Step> take_header(std::span<const std::byte> block);
  Status take_body(std::span<const std::byte> bytes);
  Status take_pax(std::string_view records);
  Status expect_body(Body body, std::uint64_t size);

  std::uint64_t offset_ = 0;
  std::size_t wanted_ = kTarBlock;
  Body body_ = Body::kNone;
  std::uint64_t body_size_ = 0;
  std::string long_name_;                   // for the next member; empty: as its header says
  std::optional<std::uint64_t> long_size_;  // likewise
};

}  // namespace unstarve::feed
