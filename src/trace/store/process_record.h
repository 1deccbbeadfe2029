#pragma once

#include <cstdint>
#include <string>

#include "base/reading.h"
#include "trace/store/run_rows.h"

namespace unstarve::trace {

/// A process of the job as its hook described it.
struct ProcessRecord {
  ProcessRow row;
  Reading<std::int64_t> ended_ns;
  std::string text;  // JSON, docs/formats/run.md; empty when there is none
};

}  // namespace unstarve::trace
