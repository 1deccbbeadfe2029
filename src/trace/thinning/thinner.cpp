#include "trace/thinning/thinner.h"

#include <algorithm>
#include <limits>

namespace unstarve::trace {

namespace {

constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kAgainAfterNs = 60'000'000'000;

/// All that `change` does to the store, or nothing: who calls knows from the answer what is in it.
template <class Change>
Status in_savepoint(Database& database, const Change& change) {
  if (const Status begun = database.execute("SAVEPOINT thinning"); !begun) return begun;
  Status done = change();
  if (done) done = database.execute("RELEASE thinning");
  if (done || !database.in_transaction()) return done;
  static_cast<void>(!database.execute("ROLLBACK TO thinning"));
  static_cast<void>(!database.execute("RELEASE thinning"));
  return done;
}

}  // namespace

Thinner::Thinner(std::int64_t started_ns, const ThinningOptions& options)
    : options_(options), plan_{started_ns, options.slot_ns, 0}, newest_ns_(started_ns) {}

void Thinner::inserted(RowKind kind, std::int64_t process, const Interval& when,
                       std::int64_t rowid) {
  const std::int64_t slot = plan_.slot_at(when.start_ns);
  slots_[slot][static_cast<std::size_t>(kind)].extend(rowid);
  ++rows_;
  newest_ns_ = std::max(newest_ns_, when.start_ns);
  if (slot < next_ && !plan_.keeps(slot)) due_.insert(slot);  // it came late
  if (kind != RowKind::kStep) return;
  Interval& cover = covers_[process].try_emplace(slot, when).first->second;
  cover = {std::min(cover.start_ns, when.start_ns), std::max(cover.end_ns, when.end_ns)};
  std::int64_t& until = stepped_until_ns_[process];
  until = std::max(until, when.end_ns);
}

void Thinner::protect(const WindowRow& window) {
  protect(window.process.pid, {window.start_ns, window.end_ns.value_or(kForEver)});
}

void Thinner::protect(std::int64_t process, const Interval& when) {
  windows_[process].insert_or_assign(when.start_ns, when);
}

void Thinner::ended(std::int64_t process) { stepped_until_ns_.erase(process); }

bool Thinner::is_settled(std::int64_t slot) const {
  const std::int64_t end_ns = plan_.slot(slot).end_ns;
  if (newest_ns_ < end_ns + options_.settled_after_ns) return false;
  if (newest_ns_ >= end_ns + options_.patience_ns) return true;
  return std::all_of(stepped_until_ns_.begin(), stepped_until_ns_.end(),
                     [end_ns](const auto& process) { return process.second >= end_ns; });
}

void Thinner::settle() {
  for (; is_settled(next_); ++next_) {
    if (!plan_.keeps(next_) && slots_.count(next_) != 0) due_.insert(next_);
  }
}

Status Thinner::advance(Database& database) {
  if (newest_ns_ < not_before_ns_) return {};
  settle();
  const bool enough = (next_ >> (plan_.level + 1)) >= options_.slots_min;
  const bool raises = rows_ > options_.rows_max && due_.empty() && enough;
  if (!raises && due_.empty()) return {};
  Status done = raises ? raise_level(database) : Status{};
  if (done) done = drop_due(database);
  if (!done) not_before_ns_ = newest_ns_ + kAgainAfterNs;
  return done;
}

Status Thinner::finish(Database& database) {
  not_before_ns_ = 0;
  do {
    if (const Status done = advance(database); !done) return done;
  } while (!due_.empty());
  return {};
}

Status Thinner::raise_level(Database& database) {
  SlotPlan raised = plan_;
  ++raised.level;
  const Status done = in_savepoint(database, [&]() -> Status {
    if (const Status made = create_thinned(database); !made) return made;
    if (const Status merged = merge_blocks(database, raised); !merged) return merged;
    return store_plan(database, raised);
  });
  if (!done) return done;
  plan_ = raised;
  for (const auto& [slot, rows] : slots_) {
    if (slot < next_ && !plan_.keeps(slot)) due_.insert(slot);
  }
  return {};
}

Status Thinner::drop_due(Database& database) {
  const std::int64_t enough = rows_ - options_.rows_at_once;
  while (!due_.empty() && rows_ > enough) {
    if (const Status dropped = drop(database, *due_.begin()); !dropped) return dropped;
  }
  return {};
}

// A step that began in an earlier slot keeps what lies in it, and one that reaches into the next
// slot takes what lies there along.
ProcessCut Thinner::cut_of(std::int64_t process, std::int64_t slot) const {
  ProcessCut cut;
  cut.rows = plan_.slot(slot);
  const std::map<std::int64_t, Interval>& covers = covers_.at(process);
  const auto own = covers.lower_bound(slot);
  if (own != covers.begin()) {
    cut.rows.start_ns = std::max(cut.rows.start_ns, std::prev(own)->second.end_ns);
  }
  if (own != covers.end() && own->first == slot) {
    cut.rows.end_ns = std::max(cut.rows.end_ns, own->second.end_ns);
  }
  const auto windows = windows_.find(process);
  if (windows == windows_.end()) return cut;
  const std::int64_t from_ns = plan_.slot(slot).start_ns;
  for (const auto& [start_ns, window] : windows->second) {
    if (start_ns >= cut.rows.end_ns) break;
    if (window.end_ns > from_ns) cut.kept.push_back(window);
  }
  return cut;
}

SlotDrop Thinner::prepare(std::int64_t slot) const {
  SlotDrop drop;
  drop.slot = slot;
  std::int64_t reach_ns = plan_.slot(slot).end_ns;
  for (const auto& [process, covers] : covers_) {
    ProcessCut cut = cut_of(process, slot);
    reach_ns = std::max(reach_ns, cut.rows.end_ns);
    drop.steps.emplace(process, std::move(cut));
  }
  for (auto at = slots_.lower_bound(slot); at != slots_.end(); ++at) {
    if (plan_.slot(at->first).start_ns >= reach_ns) break;
    for (std::size_t kind = 0; kind < kRowKinds; ++kind) drop.rows[kind].extend(at->second[kind]);
  }
  return drop;
}

Status Thinner::drop(Database& database, std::int64_t slot) {
  Result<SlotDropped> dropped = SlotDropped{};
  const Status done = in_savepoint(database, [&]() -> Status {
    if (const Status stored = store_plan(database, plan_); !stored) return stored;
    dropped = drop_slot(database, plan_, prepare(slot));
    return dropped ? Status() : forward_error(dropped);
  });
  if (!done) return done;
  rows_ -= dropped->rows;
  due_.erase(slot);
  const SlotRows& left = dropped->left;
  if (std::all_of(left.begin(), left.end(), [](const RowRange& range) { return range.empty(); })) {
    slots_.erase(slot);
  } else {
    slots_[slot] = left;
  }
  for (auto& [process, covers] : covers_) {
    const auto kept = dropped->steps_left.find(process);
    if (kept == dropped->steps_left.end()) {
      covers.erase(slot);
    } else {
      covers[slot] = kept->second;
    }
  }
  return {};
}

}  // namespace unstarve::trace
