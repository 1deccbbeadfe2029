#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace unstarve::feed {

/// Compares a coefficient payload with the JPEG that it was made from: size, tables, and every
/// coefficient, which libjpeg decodes once more. Thread rule: one thread at a time.
class CoefficientCheck {
 public:
  static Result<CoefficientCheck> create();
  CoefficientCheck(CoefficientCheck&&) noexcept;
  CoefficientCheck& operator=(CoefficientCheck&&) noexcept;
  ~CoefficientCheck();

  /// kCorruptData when they differ.
  Status compare(std::span<const std::byte> jpeg, std::span<const std::byte> payload);

 private:
  struct Impl;
  explicit CoefficientCheck(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::feed
