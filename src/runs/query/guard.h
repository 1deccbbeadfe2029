#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "trace/store/sqlite.h"

namespace unstarve::runs {

/// Bounds a connection to statements that read given tables, by functions that compute and do
/// nothing else, until a moment. Whatever a statement asks beyond that is refused when it is
/// prepared.
///
///   auto guard = QueryGuard(clock, deadline_ns, {"steps"});
///   guard.apply(database);   // the connection takes no other statement from now on
///
/// Lifetime: outlives the connection's statements; is not moved. Thread rule: one thread.
class QueryGuard {
 public:
  QueryGuard(const Clock& clock, std::int64_t deadline_ns,
             std::set<std::string, std::less<>> tables)
      : clock_(clock), deadline_ns_(deadline_ns), tables_(std::move(tables)) {}
  QueryGuard(const QueryGuard&) = delete;
  QueryGuard& operator=(const QueryGuard&) = delete;

  Status apply(trace::Database& database);
  /// What the last statement wanted that it may not; empty: nothing.
  const std::string& refused() const { return refused_; }
  /// The tables that can be read, for people.
  std::string table_names() const;
  bool is_late() const { return clock_.now_ns() > deadline_ns_; }

 private:
  static int authorize(void* guard, int action, const char* first, const char* second,
                       const char* database, const char* accessor);
  static int look_at_clock(void* guard);
  /// Empty: it may.
  std::string refusal(int action, std::string_view first, std::string_view second) const;

  const Clock& clock_;
  const std::int64_t deadline_ns_;
  const std::set<std::string, std::less<>> tables_;
  std::string refused_;
};

}  // namespace unstarve::runs
