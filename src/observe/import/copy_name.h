#pragma once

#include <string_view>

#include "trace/timeline/timeline.h"

namespace unstarve::observe {

/// What the name of a copy tells: "Memcpy HtoD (Pageable -> Device)", "CopyDeviceToHost".
struct CopyName {
  trace::CopyDirection direction = trace::CopyDirection::kUnknown;
  trace::MemoryKind source = trace::MemoryKind::kUnknown;
  trace::MemoryKind target = trace::MemoryKind::kUnknown;
};

/// ROCm says "Host" for memory of either kind; it stays unknown then whether it was pinned.
CopyName parse_copy_name(std::string_view name);

}  // namespace unstarve::observe
