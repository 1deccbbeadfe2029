#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"

namespace unstarve::report {

/// What a job does at the moment, as far as it is seen.
enum class LiveState : std::uint8_t {
  kStarting,    // it has made no step so far
  kTraining,    // steps end
  kLoading,     // batches come and no step ends: it evaluates, or reads ahead
  kCheckpoint,  // it saves or compiles
  kQuiet,       // it trained, and nothing of it was seen for a while
  kEnded,
};
/// "starting", "training", "loading", "checkpoint", "quiet", "ended".
std::string_view to_string(LiveState state);

struct LiveGpu {
  std::int64_t index = 0;
  std::string uuid = {};         // empty: not known
  Reading<double> utilization;   // 0..1, of the last seconds
  Reading<double> memory_bytes;  // in use
  Reading<double> power_w;
  std::vector<double> curve;  // its utilisation, a value a second, oldest first; NaN: none was read
};

/// A process with a context on a GPU.
struct GpuProcess {
  std::int64_t pid = 0;      // as the driver tells it
  std::string user = {};     // empty: not known
  std::string command = {};  // without secrets; empty: not known
  Reading<double> memory_bytes = {};
};

/// A GPU of this machine that no watched job has.
struct OtherGpu {
  LiveGpu gpu;
  std::string name;
  Reading<double> memory_total_bytes;
  Reading<std::int64_t> processes;            // with a context on it
  std::vector<GpuProcess> process_list = {};  // these, the one with the most memory first
};

/// A watched job as it is now. Shares and rates are of the last seconds.
struct LiveJob {
  std::string run_dir;
  std::string command;
  double elapsed_s = 0;  // since watching began
  LiveState state = LiveState::kStarting;
  double quiet_s = 0;  // since the last sign of progress: a step, a batch, a checkpoint
  bool emulated = false;
  std::int64_t steps = 0;  // of each rank
  std::int64_t ranks = 0;  // processes that made steps lately
  Reading<double> step_s;
  Reading<double> samples_per_s;
  // Of the time of the threads that train: in loaders, in calls that wait for the GPU.
  Reading<double> waiting;
  Reading<double> blocked;
  std::vector<double> waiting_curve;  // as LiveGpu::curve
  Reading<double> cpu_cores;
  Reading<double> cores_allowed;
  Reading<double> resident_bytes;
  std::vector<double> cpu_curve;  // as a share of the cores that the job may use
  std::vector<LiveGpu> gpus;
  /// Whether it idles while it should train, for as long as was asked; absent: it cannot be told.
  Reading<bool> idle = WhyAbsent::kNotObserved;
};

}  // namespace unstarve::report
