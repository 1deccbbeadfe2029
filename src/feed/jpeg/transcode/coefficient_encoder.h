#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

struct EncodeLimits {
  std::int64_t max_pixels = 178'956'970;  // larger images are left as files
  int max_scans = 500;                    // of a progressive JPEG; each costs a pass over the image
};

/// Turns JPEG files into coefficient payloads (docs/formats/coefficients.md), without loss: their
/// pixels are those of the file.
///
///   Status status = encoder.encode(file_bytes, payload);   // payload is replaced
///
/// Baseline, extended, progressive and, where libjpeg has it, arithmetic coding; grey and three
/// components with any sampling. Everything else, damaged files among it, is kNotSupported: such a
/// file is to be kept as its bytes. Thread rule: one thread at a time.
class CoefficientEncoder {
 public:
  static Result<CoefficientEncoder> create(const EncodeLimits& limits);
  CoefficientEncoder(CoefficientEncoder&&) noexcept;
  CoefficientEncoder& operator=(CoefficientEncoder&&) noexcept;
  ~CoefficientEncoder();

  Status encode(std::span<const std::byte> jpeg, std::vector<std::byte>& payload);

 private:
  struct Impl;
  explicit CoefficientEncoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::feed
