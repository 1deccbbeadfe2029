#pragma once

#include <cstdint>
#include <string>

#include "trace/timeline/interval.h"

namespace unstarve::trace {

/// Work of a thread that the hook knows by name, other than training.
enum class HostWorkKind : std::uint8_t {
  kCollection = 0,       // Python's garbage collector
  kSave = 1,             // torch.save
  kEmptyCache = 2,       // torch.cuda.empty_cache()
  kAllocationRetry = 3,  // PyTorch's allocator gave its cache back and tried again; has no length
  kOutOfMemory = 4,      // it raised OutOfMemoryError, and the job went on; has no length
  kCompilation = 5,      // torch.compile, of a function that it had not seen
  kRecompilation = 6,    // torch.compile, of one that it had compiled before
};
inline constexpr HostWorkKind kLastHostWorkKind = HostWorkKind::kRecompilation;

struct HostWork {
  Interval when = {};
  std::int64_t thread = 0;
  std::int64_t process = 0;
  HostWorkKind kind = HostWorkKind::kCollection;
};

/// Where a process does work of one kind, as far as its hook can say it: "train.py:57".
struct HostWorkPlace {
  std::int64_t process = 0;
  HostWorkKind kind = HostWorkKind::kCollection;
  std::string place;
};

}  // namespace unstarve::trace
