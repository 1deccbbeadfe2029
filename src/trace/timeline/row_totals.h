#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace unstarve::trace {

/// What is known of rows that were dropped. Sums are exact.
struct RowTotals {
  std::int64_t rows = 0;
  std::int64_t ns = 0;       // how long they lasted
  std::int64_t wait_ns = 0;  // of steps: in which their thread waited for a loader
  std::int64_t samples = 0;
  std::int64_t sampled_ns = 0;    // of `ns`, the rows that say their samples
  std::int64_t sampled_rows = 0;  // how many these are
  double value = 0;               // of samples of a metric, and of what stages spent

  RowTotals& operator+=(const RowTotals& other);
};

/// What totals are of. `subject`: of a step the loaders that were waited for in it, "0,1"; of a
/// wait or a fetch the loader; of host work its kind; of a stage "loader:stage"; of a sample the
/// metric's id. Process and thread are 0 where they do not matter.
struct TotalsKey {
  std::string what;  // "step", "batch" (a step that is a loader's batch), "wait", "fetch", ...
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::string subject;

  bool operator<(const TotalsKey& other) const {
    return std::tie(what, process, thread, subject) <
           std::tie(other.what, other.process, other.thread, other.subject);
  }
};

using TotalsBy = std::map<TotalsKey, RowTotals>;

}  // namespace unstarve::trace
