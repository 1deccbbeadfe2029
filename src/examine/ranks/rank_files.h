#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "examine/examination.h"

namespace unstarve::examine {

/// Compares recordings that hold one rank of one job each, as torch.profiler writes them. They are
/// where each says which rank it is of, none says the same, and all are of the same number. Which
/// of them to speak of: that of the rank which the others wait for, else the one whose GPU computes
/// least; its diagnosis has the rows of all then, and advice that knows of them. None where they
/// are not of one job: nothing is changed then.
std::optional<std::size_t> join_ranks(std::vector<Examination>& examined);

}  // namespace unstarve::examine
