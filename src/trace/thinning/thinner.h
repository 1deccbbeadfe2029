#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/result.h"
#include "trace/store/run_rows.h"
#include "trace/store/sqlite.h"
#include "trace/thinning/options.h"
#include "trace/thinning/slot_drop.h"
#include "trace/timeline/slot_plan.h"

namespace unstarve::trace {

/// Keeps a run's store small, see the folder's README. Told of every row that was inserted; all
/// that it knows is in memory, since only whoever made a run writes on in it.
/// Thread rule: one thread at a time.
class Thinner {
 public:
  Thinner(std::int64_t started_ns, const ThinningOptions& options);

  void inserted(RowKind kind, std::int64_t process, const Interval& when, std::int64_t rowid);
  /// So many of them were not committed.
  void lost(std::uint64_t rows) { rows_ -= static_cast<std::int64_t>(rows); }
  /// The GPU was recorded then: what the process did meanwhile stays.
  void protect(const WindowRow& window);
  void protect(std::int64_t process, const Interval& when);
  /// It will step no more.
  void ended(std::int64_t process);

  /// Drops some of what is due, in the open transaction. After an error the transaction is as it
  /// was before, or SQLite has ended it.
  Status advance(Database& database);
  /// Drops all that is due: nobody writes on. Ends with the first error.
  Status finish(Database& database);

  const SlotPlan& plan() const { return plan_; }

 private:
  bool is_settled(std::int64_t slot) const;
  void settle();
  Status raise_level(Database& database);
  Status drop_due(Database& database);
  Status drop(Database& database, std::int64_t slot);
  SlotDrop prepare(std::int64_t slot) const;
  ProcessCut cut_of(std::int64_t process, std::int64_t slot) const;

  ThinningOptions options_;
  SlotPlan plan_;
  std::int64_t rows_ = 0;
  std::int64_t newest_ns_ = 0;
  std::int64_t next_ = 0;                   // the first slot that was not yet decided on
  std::int64_t not_before_ns_ = 0;          // after an error
  std::map<std::int64_t, SlotRows> slots_;  // with rows in the store
  std::set<std::int64_t> due_;              // to be dropped
  // Of each process that steps: from where to where the steps reach that begin in a slot.
  std::map<std::int64_t, std::map<std::int64_t, Interval>> covers_;
  std::map<std::int64_t, std::int64_t> stepped_until_ns_;
  std::map<std::int64_t, std::map<std::int64_t, Interval>> windows_;  // of each process, by start
};

}  // namespace unstarve::trace
