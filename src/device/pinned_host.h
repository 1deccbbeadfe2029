#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace unstarve::device {

/// Page-locked memory of the host, from which a device copies while the host goes on.
/// Thread rule: any thread. Only in the process that opened it.
class PinnedHost {
 public:
  virtual ~PinnedHost() = default;
  /// Aligned to a page. What it returns must be released before this is destroyed.
  virtual Result<void*> allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Who pins, for messages.
  virtual std::string name() const = 0;
};

}  // namespace unstarve::device
