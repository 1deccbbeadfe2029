#pragma once

#include <pthread.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "observe/inside/cupti/activity_ring.h"
#include "observe/inside/cupti/buffer_pool.h"
#include "observe/inside/cupti/clock_match.h"
#include "observe/inside/cupti/cupti_functions.h"
#include "observe/inside/cupti/window_plan.h"

namespace unstarve::recording {

/// Records what a process does on its GPUs, in windows: a thread of ours opens and closes them and
/// moves CUPTI's records into the ring. Of each window two records tell (cupti::RecordingWindow).
///
///   Recorder& recorder = *std::make_unique<Recorder>(*functions, options).release();
///   Status began = recorder.start();   // within the driver's initialisation
///   recorder.end();                    // at the process's end
///
/// CUPTI is called with no lock of ours held. Never destroyed once started: CUPTI may call back
/// until the very end.
/// Thread rule: any thread. One recorder of a process at a time.
class Recorder {
 public:
  struct Options {
    std::string rings_folder;
    WindowPlan plan;
    int pauses = 0;  // that were asked for before it began
  };
  Recorder(const CuptiFunctions& functions, const Options& options);

  /// Opens the first window at once, if not paused, and starts the thread. An error: nothing was
  /// started, and CUPTI is as it was.
  Status start();

  /// Closes the window, for somebody else who wants to use CUPTI, and opens none until half a
  /// second after resume() was called as often. Returns when all is handed over, or after a second.
  void pause() UNSTARVE_EXCLUDES(mutex_);
  void resume() UNSTARVE_EXCLUDES(mutex_);
  /// The job's first step ended now; a step takes `step_ns` in the mean (WindowTimer).
  void steps_began() UNSTARVE_EXCLUDES(mutex_);
  void step_takes(std::int64_t step_ns) UNSTARVE_EXCLUDES(mutex_);

  /// Closes the window for good. Returns when all is in the ring, or after two seconds.
  void end() UNSTARVE_EXCLUDES(mutex_);

  /// Empty while it records, or would in a window; else why it gave up.
  std::string failure() UNSTARVE_EXCLUDES(mutex_);

  /// In a child of fork(), where the thread is not: it is as if there were no recorder.
  static void forget_after_fork();

 private:
  /// What the others want of the thread.
  struct Wish {
    bool ending = false;
    bool paused = false;  // or was until just now
    std::optional<std::int64_t> steps_began_ns;
    std::int64_t step_ns = 0;
  };
  static void* run_thread(void* recorder);
  void run();
  Wish wait_for_wish() UNSTARVE_EXCLUDES(mutex_);
  bool is_paused() UNSTARVE_EXCLUDES(mutex_);
  void tell(bool open, bool ended) UNSTARVE_EXCLUDES(mutex_);
  void give_up(const std::string& why) UNSTARVE_EXCLUDES(mutex_);

  // Only on the thread, or before there is one.
  Status open_window();
  void close_window(std::int64_t patience_ns);
  Status enable_kinds();
  void enable_calls();
  void disable_all();
  void flush(std::uint32_t flag);
  void read_clock();
  void write_filled();
  void write_records(const BufferPool::Filled& filled);
  void count_lost();

  const CuptiFunctions cupti_;
  BufferPool pool_;
  ActivityRing ring_;
  WindowTimer timer_;
  ClockMatch clock_;
  cupti::RecordingWindow window_;
  bool is_open_ = false;
  std::uint64_t written_ = 0;  // records, when they were last fetched

  Mutex mutex_;
  CondVar changed_;  // somebody wants something
  CondVar done_;     // the thread did something
  int pauses_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::int64_t paused_until_ns_ UNSTARVE_GUARDED_BY(mutex_) = 0;  // the last pause, and a while
  std::optional<std::int64_t> steps_began_ns_ UNSTARVE_GUARDED_BY(mutex_);
  std::int64_t step_ns_ UNSTARVE_GUARDED_BY(mutex_) = 0;  // the longest mean so far
  bool changed_wish_ UNSTARVE_GUARDED_BY(mutex_) = false;
  bool ending_ UNSTARVE_GUARDED_BY(mutex_) = false;
  bool ended_ UNSTARVE_GUARDED_BY(mutex_) = false;
  bool shown_open_ UNSTARVE_GUARDED_BY(mutex_) = false;
  std::string failure_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::recording
