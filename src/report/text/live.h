#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/reading.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

/// The newest readings of a job that is being watched.
struct LiveNumbers {
  Reading<double> gpu_utilization;  // 0..1
  Reading<double> cpu_cores;        // of the job's process tree
  Reading<double> samples_per_s;
  Reading<double> wait_share;  // of the training thread's time spent waiting for input, 0..1
  bool emulated = false;
};

/// One line: the last values of the GPU's utilisation (0..1, NaN where there is none) as a curve,
/// one column each, the newest on the right, and the current numbers. Numbers that do not fit or
/// are absent are left out. No newline at the end.
std::string render_sawtooth(std::span<const double> utilisation, const LiveNumbers& now,
                            const TextOptions& options);

/// What a running job's time goes to, over the last while.
struct LiveVerdict {
  double wait_share = 0;            // of the training threads' time, waiting for the data loader
  Reading<std::int64_t> workers;    // of the loader that was iterated last
  Reading<double> gpu_utilization;  // 0..1
  Reading<double> samples_per_s;
  std::int64_t steps = 0;  // in all
  bool emulated = false;
};

/// "waits for data 74 % (4 workers), GPU busy 22 %, 812 samples/s, 120 steps": the cause and its
/// share first.
std::string render_verdict(const LiveVerdict& now);

/// "GPU 0 reported error XID 79 (GPU has fallen off the bus)", of a job that runs on; of several at
/// once the last.
std::string render_gpu_error(std::string_view subject, std::int64_t count, std::int64_t xid);

struct ProgressOptions {
  bool rewrite = false;  // true on a terminal
  bool shared = false;   // others write to that terminal: what they write next begins in column 0
  std::int64_t quiet_ns = 1'000'000'000;        // nothing is said of what is over sooner
  std::int64_t rewrite_every_ns = 100'000'000;  // on a terminal
  std::int64_t line_every_ns = 10'000'000'000;  // elsewhere
  TextOptions text;
};

/// Says how something long is going: on a terminal one line that is rewritten, elsewhere a plain
/// line now and then, so that a log stays short.
///
///   ProgressLine progress(clock, options, [](std::string_view s) { write(2, s.data(), s.size());
///   }); while (...) progress.update("step 12 of 200"); progress.finish("200 steps in 12.3 s");
///
/// Has no thread: it writes when it is called, in the caller's thread. The clock must outlive it.
class ProgressLine {
 public:
  using Sink = std::function<void(std::string_view)>;

  ProgressLine(const Clock& clock, const ProgressOptions& options, Sink sink);

  /// `text` may hold colours when it is made by this module; it is one line, and as wide as the
  /// terminal at most (plain text is clipped). Returns whether anything was written.
  bool update(std::string_view text);

  /// Wipes the rewritten line, so that somebody else may write; the next update draws it again.
  void clear();

  /// Ends with `text` on a line of its own, or with nothing when it is empty.
  void finish(std::string_view text);

 private:
  const Clock& clock_;
  ProgressOptions options_;
  Sink sink_;
  std::int64_t started_ns_;
  std::int64_t written_ns_;
  bool drawn_ = false;
};

}  // namespace unstarve::report
