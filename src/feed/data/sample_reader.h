#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/encoded_sample.h"
#include "feed/data/file_stamp.h"
#include "feed/data/read_hint.h"

namespace unstarve::feed {

/// Reads samples for one thread, with memory of its own.
///
///   Result<EncodedSample> sample = reader.read(17);
///   if (sample->form == SampleForm::kCoefficients) reader.read_part(offset, size, buffer);
///   if (sample->copy == CopyRole::kWanted) reader.keep(payload, head_size);
///
/// Errors do not name the sample: see SampleSource::locate().
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  /// Says that the sample will be read soon, perhaps by another reader. It waits at most for what
  /// it takes to find the sample, not for the sample; failures are for read() to tell.
  virtual ReadHint hint(std::uint64_t /*index*/) { return ReadHint::kNone; }
  /// Valid until the next call of it.
  virtual Result<EncodedSample> read(std::uint64_t index) = 0;
  /// Of the file that holds the sample, with the sample's size; kNotSupported where there is none.
  virtual Result<FileStamp> stamp(std::uint64_t index);

  // The others are about the sample read last.

  /// Of kCoefficients: `size` bytes from `offset` of the payload on, in `buffer`, which keeps its
  /// memory from call to call, or in memory that the source keeps mapped. kCorruptData past the
  /// end.
  virtual Result<std::span<const std::byte>> read_part(std::uint64_t offset, std::size_t size,
                                                       std::vector<std::byte>& buffer);
  /// Of CopyRole::kWanted: here are the file's coefficients, their head first. Takes `payload` and
  /// leaves another buffer in its place, with anything in it. What becomes of the copy is the
  /// source's affair.
  virtual void keep(std::vector<std::byte>& /*payload*/, std::uint32_t /*head_size*/) {}
  /// The same: the file was decoded, but has no other form; it need not be tried again.
  virtual void refuse() {}
  /// Of CopyRole::kCopy, when it cannot be decoded: what it was made of. It is then the sample read
  /// last.
  virtual Result<EncodedSample> original();
};

inline Result<FileStamp> SampleReader::stamp(std::uint64_t /*index*/) {
  return fail(ErrorCode::kNotSupported, "the sample is not a file of its own");
}

inline Result<std::span<const std::byte>> SampleReader::read_part(
    std::uint64_t /*offset*/, std::size_t /*size*/, std::vector<std::byte>& /*buffer*/) {
  return fail(ErrorCode::kNotSupported, "the sample is not read in parts");
}

inline Result<EncodedSample> SampleReader::original() {
  return fail(ErrorCode::kNotSupported, "the sample is not a copy");
}

}  // namespace unstarve::feed
