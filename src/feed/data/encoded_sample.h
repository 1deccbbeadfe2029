#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"

namespace unstarve::feed {

/// How a source keeps a sample.
enum class SampleForm {
  kFile,          // the bytes of a file, whatever its format
  kCoefficients,  // a JPEG as coefficients (docs/formats/shard.md): `bytes` is its head
  kTensor,        // the values of an array of fixed shape, little-endian, in C order
};

/// Reads further parts of one sample, for forms of which a crop needs only some bytes.
class SampleParts {
 public:
  virtual ~SampleParts() = default;
  /// `size` bytes from `offset` of the sample's payload on, in `buffer`, which keeps its memory
  /// from call to call, or in memory that the source keeps mapped. kCorruptData past the end.
  virtual Result<std::span<const std::byte>> read(std::uint64_t offset, std::size_t size,
                                                  std::vector<std::byte>& buffer) = 0;
};

struct EncodedSample;

/// Keeps copies of samples in a form that is read faster. It is about the sample read last.
class SampleKeeper {
 public:
  virtual ~SampleKeeper() = default;
  /// The file's coefficients, their head first. Takes `payload` and leaves another buffer in its
  /// place, with anything in it. What becomes of the copy is the keeper's affair.
  virtual void keep(std::vector<std::byte>& payload, std::uint32_t head_size) = 0;
  /// The file was decoded, but has no other form: it need not be tried again.
  virtual void refuse() = 0;
  /// The copy cannot be decoded: what it was made of instead.
  virtual Result<EncodedSample> original() = 0;
};

/// One sample as it lies in its source. Valid until its reader reads the next.
struct EncodedSample {
  SampleForm form = SampleForm::kFile;
  std::span<const std::byte> bytes;  // kFile, kTensor: all of it; kCoefficients: the head
  SampleParts* parts = nullptr;      // kCoefficients: the rest
  ImageSize image = {};              // kTensor: set where it is uint8, height x width x 3
  SampleKeeper* keeper = nullptr;    // kFile: takes a copy; kCoefficients: this is a copy
};

}  // namespace unstarve::feed
