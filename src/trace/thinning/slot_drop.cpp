#include "trace/thinning/slot_drop.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "trace/store/run_rows.h"

namespace unstarve::trace {

namespace {

struct Table {
  const char* name;
  const char* columns;  // process, thread, start, end, subject, samples, value
  const char* what;
};

constexpr std::array<Table, kRowKinds> kThinnedTables = {{
    {"step", "pid, tid, start_ns, end_ns, source, samples, 0", "step"},
    {"wait", "pid, tid, start_ns, end_ns, loader_id, samples, 0", "wait"},
    {"fetch", "pid, 0, start_ns, end_ns, loader_id, samples, 0", "fetch"},
    {"sync", "pid, tid, start_ns, end_ns, '', NULL, 0", "sync"},
    {"stack_sample", "pid, 0, t_ns, t_ns + period_ns, '', NULL, 0", "stack_sample"},
    {"host_work", "pid, tid, start_ns, end_ns, kind, NULL, 0", "host_work"},
    {"stage", "pid, 0, start_ns, end_ns, loader_id || ':' || stage, amount, spent_ns", "stage"},
    {"sample", "0, 0, t_ns, t_ns, metric_id, value IS NOT NULL, value", "sample"},
}};

struct Row {
  std::int64_t rowid = 0;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  Interval when = {};
  std::string subject;
  Reading<std::int64_t> samples;
  double value = 0;
};

struct ThinningStep {
  Row row;
  std::int64_t wait_ns = 0;
  std::set<std::string> loaders = {};
};

bool lies_in(std::int64_t t_ns, const Interval& when) {
  return t_ns >= when.start_ns && t_ns < when.end_ns;
}

RowTotals totals_of(const Row& row) {
  RowTotals totals;
  totals.rows = 1;
  totals.ns = row.when.duration_ns();
  totals.value = row.value;
  if (row.samples) {
    totals.samples = *row.samples;
    totals.sampled_rows = 1;
    totals.sampled_ns = totals.ns;
  }
  return totals;
}

class Dropping {
 public:
  Dropping(Database& database, const SlotPlan& plan, SlotDrop drop)
      : database_(database), plan_(plan), drop_(std::move(drop)), slot_(plan.slot(drop_.slot)) {}

  Result<SlotDropped> perform() {
    if (const Status done = drop_steps(); !done) return forward_error(done);
    if (const Status done = drop_waits(); !done) return forward_error(done);
    for (const RowKind kind : {RowKind::kFetch, RowKind::kSync, RowKind::kStack, RowKind::kHostWork,
                               RowKind::kStage, RowKind::kSample}) {
      if (const Status done = drop_others(kind); !done) return forward_error(done);
    }
    for (const auto& [process, steps] : steps_) {
      for (const ThinningStep& step : steps) count(step);
    }
    const Status added = add_totals(database_, plan_.block_of(drop_.slot), totals_);
    if (!added) return forward_error(added);
    return out_;
  }

 private:
  Status drop_steps();
  Status drop_waits();
  Status drop_others(RowKind kind);

  /// Whether a row, not a step, of the process goes.
  bool goes(const Row& row) const {
    const auto cut = drop_.steps.find(row.process);
    if (cut == drop_.steps.end()) return lies_in(row.when.start_ns, slot_);
    const auto covers = [&row](const Interval& when) { return lies_in(row.when.start_ns, when); };
    const std::vector<Interval>& kept = cut->second.kept;
    return covers(cut->second.rows) && std::none_of(kept.begin(), kept.end(), covers);
  }

  ThinningStep* step_of(const Row& row) {
    std::vector<ThinningStep>& steps = steps_[row.process];
    const auto after = std::upper_bound(
        steps.begin(), steps.end(), row.when.start_ns,
        [](std::int64_t t_ns, const ThinningStep& step) { return t_ns < step.row.when.start_ns; });
    if (after == steps.begin()) return nullptr;
    ThinningStep& step = *std::prev(after);
    return row.when.start_ns < step.row.when.end_ns ? &step : nullptr;
  }

  void count(const ThinningStep& step) {
    std::string loaders;
    for (const std::string& loader : step.loaders) {
      loaders += (loaders.empty() ? "" : ",") + loader;
    }
    const bool is_batch = step.row.subject == std::to_string(number_of(StepSource::kLoaderBatch));
    const char* label = is_batch ? "batch" : "step";
    RowTotals totals = totals_of(step.row);
    totals.wait_ns = step.wait_ns;
    totals_[{label, step.row.process, step.row.thread, loaders}] += totals;
  }

  /// Calls `each` with every row of the table within the range; it says whether the row goes.
  template <class Each>
  Status read(RowKind kind, Each each);

  Database& database_;
  const SlotPlan& plan_;
  SlotDrop drop_;
  Interval slot_;
  std::map<std::int64_t, std::vector<ThinningStep>> steps_;  // that go, by process and start
  TotalsBy totals_;
  SlotDropped out_;
};

template <class Each>
Status Dropping::read(RowKind kind, Each each) {
  const auto index = static_cast<std::size_t>(kind);
  const RowRange& range = drop_.rows[index];
  if (range.empty()) return {};
  const Table& table = kThinnedTables[index];
  Result<Statement> query = database_.prepare(fmt::format(
      "SELECT rowid, {} FROM {} WHERE rowid BETWEEN ? AND ?", table.columns, table.name));
  if (!query) return forward_error(query);
  if (const Status started = query->start({range.first, range.last}); !started) return started;
  std::vector<std::int64_t> going;
  while (true) {
    const Result<bool> more = query->next();
    if (!more) return forward_error(more);
    if (!*more) break;
    Row row;
    row.rowid = query->integer(0);
    row.process = query->integer(1);
    row.thread = query->integer(2);
    row.when = {query->integer(3), query->integer(4)};
    row.subject = std::string(query->text(5));
    row.samples = query->reading(6);
    row.value = query->real(7);
    const bool begins_here = plan_.slot_at(row.when.start_ns) == drop_.slot;
    const std::int64_t rowid = row.rowid;
    if (each(std::move(row), begins_here)) {
      going.push_back(rowid);
    } else if (begins_here) {
      out_.left[index].extend(rowid);
    }
  }
  Result<Statement> remove =
      database_.prepare(fmt::format("DELETE FROM {} WHERE rowid = ?", table.name));
  if (!remove) return forward_error(remove);
  for (const std::int64_t rowid : going) {
    if (const Status removed = remove->run({rowid}); !removed) return removed;
  }
  out_.rows += static_cast<std::int64_t>(going.size());
  return {};
}

// A step that the GPU was recorded in stays, with all that lies in it.
Status Dropping::drop_steps() {
  std::vector<std::pair<std::int64_t, Interval>> staying;  // by process
  const auto goes_as_step = [this, &staying](Row row, bool begins_here) {
    if (!begins_here) return false;
    const std::vector<Interval>& kept = drop_.steps[row.process].kept;
    const bool recorded = std::any_of(kept.begin(), kept.end(), [&row](const Interval& when) {
      return when.start_ns < row.when.end_ns && row.when.start_ns < when.end_ns;
    });
    if (!recorded) {
      std::vector<ThinningStep>& steps = steps_[row.process];
      steps.push_back({std::move(row)});
      return true;
    }
    staying.emplace_back(row.process, row.when);
    Interval& left = out_.steps_left.try_emplace(row.process, row.when).first->second;
    left = {std::min(left.start_ns, row.when.start_ns), std::max(left.end_ns, row.when.end_ns)};
    return false;
  };
  if (const Status read_all = read(RowKind::kStep, goes_as_step); !read_all) return read_all;
  for (const auto& [process, when] : staying) drop_.steps[process].kept.push_back(when);
  for (auto& [process, steps] : steps_) {
    std::sort(steps.begin(), steps.end(), [](const ThinningStep& a, const ThinningStep& b) {
      return a.row.when.start_ns < b.row.when.start_ns;
    });
  }
  return {};
}

// A thread that waits within a wait waits once.
Status Dropping::drop_waits() {
  std::vector<Row> waits;
  const Status read_all = read(RowKind::kWait, [this, &waits](Row row, bool) {
    if (!goes(row)) return false;
    waits.push_back(std::move(row));
    return true;
  });
  if (!read_all) return read_all;
  std::sort(waits.begin(), waits.end(),
            [](const Row& a, const Row& b) { return a.when.start_ns < b.when.start_ns; });
  std::map<std::int64_t, std::int64_t> waited_until_ns;
  for (const Row& wait : waits) {
    totals_[{"wait", wait.process, wait.thread, wait.subject}] += totals_of(wait);
    std::int64_t& until =
        waited_until_ns.try_emplace(wait.process, wait.when.start_ns).first->second;
    const std::int64_t from = std::max(until, wait.when.start_ns);
    until = std::max(until, wait.when.end_ns);
    const std::int64_t waited_ns = std::max<std::int64_t>(0, wait.when.end_ns - from);
    ThinningStep* step = step_of(wait);
    if (step == nullptr) {
      RowTotals between;
      between.wait_ns = waited_ns;
      totals_[{"step", wait.process, wait.thread, wait.subject}] += between;
      continue;
    }
    step->wait_ns += waited_ns;
    if (wait.when.duration_ns() > 0) step->loaders.insert(wait.subject);
  }
  return {};
}

Status Dropping::drop_others(RowKind kind) {
  const bool of_steps = kind != RowKind::kSample && kind != RowKind::kStage;
  const bool of_workers = kind == RowKind::kFetch;
  const char* label = kThinnedTables[static_cast<std::size_t>(kind)].what;
  return read(kind, [&](const Row& row, bool begins_here) {
    if (of_steps ? !goes(row) : !begins_here) return false;
    // Workers come and go with each pass over the data; what they did is their loader's.
    totals_[{label, of_workers ? 0 : row.process, row.thread, row.subject}] += totals_of(row);
    return true;
  });
}

}  // namespace

Result<SlotDropped> drop_slot(Database& database, const SlotPlan& plan, SlotDrop drop) {
  return Dropping(database, plan, std::move(drop)).perform();
}

}  // namespace unstarve::trace
