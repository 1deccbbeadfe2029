#pragma once

#include <vector>

#include "roofline/roofs/roof.h"

namespace unstarve::roofline {

/// The few roofs by which two machines are told apart: memory, files, decoding, products, the first
/// GPU's memory and copies. Of each the best of its variants, under the name that these share
/// ("memory.copy" of "memory.copy.2_threads"). What was not measured is left out.
std::vector<Roof> main_roofs(const MachineRoofs& known);

/// Those of this machine that are kept; none where nothing was measured, or it cannot be read.
std::vector<Roof> kept_main_roofs();

}  // namespace unstarve::roofline
