#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "trace/store/sqlite.h"
#include "trace/thinning/totals.h"
#include "trace/timeline/interval.h"
#include "trace/timeline/slot_plan.h"

namespace unstarve::trace {

/// Where in a table rows lie, by rowid.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t last = -1;

  bool empty() const { return last < first; }
  void extend(std::int64_t rowid) { extend({rowid, rowid}); }
  void extend(const RowRange& other) {
    if (other.empty()) return;
    if (empty()) {
      *this = other;
    } else {
      first = std::min(first, other.first);
      last = std::max(last, other.last);
    }
  }
};

/// Where the rows that begin in one slot lie.
using SlotRows = std::array<RowRange, kRowKinds>;

/// Which rows of a process that steps go with a slot. What lies within a step goes with it.
struct ProcessCut {
  Interval rows = {};               // those that begin in here
  std::vector<Interval> kept = {};  // and not in here: the GPU was recorded then
};

struct SlotDrop {
  std::int64_t slot = 0;
  SlotRows rows = {};                        // of the slot, and of those that its steps reach into
  std::map<std::int64_t, ProcessCut> steps;  // by process; others are cut at the slot's ends
};

struct SlotDropped {
  std::int64_t rows = 0;
  SlotRows left = {};                           // of those that begin in the slot
  std::map<std::int64_t, Interval> steps_left;  // by process: from the first to the last
};

/// Takes a slot's rows out of the store and adds them to the totals, within the open transaction.
Result<SlotDropped> drop_slot(Database& database, const SlotPlan& plan, SlotDrop drop);

}  // namespace unstarve::trace
