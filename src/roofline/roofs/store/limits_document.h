#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "roofline/roofs/machine.h"
#include "roofline/roofs/roof.h"

namespace unstarve::roofline {

/// What is known of one machine, as it is kept and as `unstarve limits --json` prints it.
struct LimitsDocument {
  Machine machine;               // who it is; the rest of it is not kept
  std::string unstarve_version;  // that wrote it
  bool modelled = false;         // the GPU's roofs are an emulated one's
  MachineRoofs known;
  std::vector<std::string> notes;  // on the last time that something was measured
};

/// One JSON object, `unstarve.limits/1` (docs/limits.md). What a job reaches of its roofs is not
/// observed here: `position` says so.
std::string write_limits_document(const LimitsDocument& document);

/// Accepts any bytes. kCorruptData for what no write_limits_document() has written.
Result<LimitsDocument> parse_limits_document(std::string_view text);

}  // namespace unstarve::roofline
