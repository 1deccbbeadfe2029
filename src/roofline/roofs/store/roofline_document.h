#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "roofline/roofs/machine.h"
#include "roofline/roofs/roof.h"

namespace unstarve::roofline {

/// What is known of one machine, as it is kept and as `unstarve roofline --json` prints it.
struct RooflineDocument {
  Machine machine;               // who it is; the rest of it is not kept
  std::string unstarve_version;  // that wrote it
  bool modelled = false;         // the GPU's roofs are an emulated one's
  MachineRoofs known;
  std::vector<std::string> notes;  // on the last time that something was measured
};

/// One JSON object, `unstarve.roofline/1` (docs/roofline.md). What a job reaches of its roofs is
/// not observed here: `position` says so.
std::string write_roofline_document(const RooflineDocument& document);

/// Accepts any bytes. kCorruptData for what no write_roofline_document() has written.
Result<RooflineDocument> parse_roofline_document(std::string_view text);

}  // namespace unstarve::roofline
