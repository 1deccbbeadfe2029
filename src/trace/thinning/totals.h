#pragma once

#include <cstdint>

#include "base/result.h"
#include "trace/store/sqlite.h"
#include "trace/timeline/row_totals.h"
#include "trace/timeline/slot_plan.h"

namespace unstarve::trace {

/// The tables whose rows are thinned out.
enum class RowKind : std::uint8_t {
  kStep,
  kWait,
  kFetch,
  kSync,
  kStack,
  kHostWork,
  kStage,
  kSample
};
inline constexpr int kRowKinds = 8;

/// The table `thinned`, which only runs have that were thinned out.
Status create_thinned(Database& database);

/// Adds totals of rows from one block of slots.
Status add_totals(Database& database, const Interval& block, const TotalsBy& totals);

/// Makes the totals of blocks that a higher level has as one into one.
Status merge_blocks(Database& database, const SlotPlan& plan);

/// Keeps in the table `run` how the run is thinned out.
Status store_plan(Database& database, const SlotPlan& plan);

}  // namespace unstarve::trace
