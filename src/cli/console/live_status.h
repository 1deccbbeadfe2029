#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "observe/outside/live_view.h"
#include "report/text/live.h"

namespace unstarve::cli {

/// Shows on stderr what a watched job is doing: the GPU's sawtooth and the current numbers.
/// One line that is rewritten on a terminal, a line every ten seconds elsewhere.
class LiveStatus {
 public:
  LiveStatus(const Clock& clock, const std::string& label, bool emulated);

  void update(const observe::LiveView& view);
  /// Leaves the sawtooth of the job's last steps on the screen, as an ordinary line.
  void finish();
  /// Leaves nothing, where somebody says what came of it.
  void drop();

 private:
  const Clock& clock_;
  std::string label_;
  report::TextOptions text_;
  report::ProgressLine line_;
  report::LiveNumbers now_;
  std::string last_with_steps_;  // the line as it was while steps were still made
  std::int64_t steps_ = 0;
  std::vector<double> utilization_;
  // State at the last rate computation, about two seconds ago.
  std::int64_t since_ns_ = 0;
  std::int64_t since_samples_ = 0;
  std::int64_t since_waited_ns_ = 0;
};

}  // namespace unstarve::cli
