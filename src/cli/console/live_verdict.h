#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "observe/outside/live_view.h"
#include "report/text/live.h"

namespace unstarve::cli {

/// Says on stderr, while a job trains, what its time goes to: within 15 s of its first step, and
/// then again. On a terminal that is one line, rewritten; elsewhere a line now and then. An error
/// of a GPU is said at once: the job may hang by it.
///
///   LiveVerdictLine line(clock, emulated);
///   options.on_tick = [&](const observe::LiveView& view) { line.update(view); return true; };
///   line.finish();  // before anything else is written
class LiveVerdictLine {
 public:
  LiveVerdictLine(const Clock& clock, bool emulated);

  void update(const observe::LiveView& view);
  void finish() { line_.clear(); }

 private:
  /// What had been counted at a moment.
  struct Count {
    std::int64_t t_ns = 0;
    observe::LiveView view;
  };
  void tell_errors(const observe::LiveView& view);
  report::LiveVerdict verdict(const observe::LiveView& view, std::int64_t now_ns) const;

  const Clock& clock_;
  bool emulated_;
  report::ProgressLine line_;
  std::map<std::string, double> errors_told_;  // by GPU, how many there were then
  std::optional<Count> training_;              // since the job's first wait or step
  std::optional<Count> since_;                 // of the time that is spoken of
  std::int64_t due_ns_ = 0;                    // of what is said next
};

}  // namespace unstarve::cli
