#pragma once

#include <cstddef>
#include <span>

#include "feed/data/geometry.h"

namespace unstarve::feed {

/// How a source keeps a sample.
enum class SampleForm {
  kFile,          // the bytes of a file, whatever its format
  kCoefficients,  // a JPEG as coefficients (docs/formats/coefficients.md): `bytes` is its head
  kTensor,        // the values of an array of fixed shape, little-endian, in C order
};

/// What a sample has to do with copies that a source keeps in a form that is read faster.
enum class CopyRole {
  kNone,
  kWanted,  // kFile: its reader takes a copy, SampleReader::keep()
  kCopy,    // kCoefficients: it is one; SampleReader::original() has what it was made of
};

/// One sample as it lies in its source. Valid until its reader reads the next.
struct EncodedSample {
  SampleForm form = SampleForm::kFile;
  std::span<const std::byte> bytes;  // kFile, kTensor: all of it; kCoefficients: the head, of which
                                     // SampleReader::read_part() has the rest
  ImageSize image = {};              // kTensor: set where it is uint8, height x width x 3
  CopyRole copy = CopyRole::kNone;
};

}  // namespace unstarve::feed
