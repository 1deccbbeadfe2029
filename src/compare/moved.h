#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/run/measured_run.h"
#include "trace/timeline/host_work.h"

namespace unstarve::compare {

/// One side of a comparison: runs of the same thing.
struct Side {
  std::string name;
  std::vector<MeasuredRun> runs;  // at least one

  /// For what is not averaged: settings, findings, lines of code.
  const MeasuredRun& first() const { return runs.front(); }
};

/// One part of a step's time (a cause of the partition, or what the training thread does).
struct PartTime {
  std::string part;
  double share_a = 0;
  double share_b = 0;
  double us_a = 0;  // of a step, or of a sample
  double us_b = 0;

  double change_us() const { return us_b - us_a; }
};

/// What stands behind a part that moved.
enum class MovedBy {
  kStage,          // `what` of loading a sample takes another time: a, b in ms
  kWorkers,        // worker processes: a, b
  kNeighbours,     // CPUs that others use beside the job: a, b
  kWorkerStarts,   // of the waiting, what worker processes take to start: a, b
  kLine,           // a line of the job, or what it calls (`what`), at `place`: a, b in ms
  kEvent,          // what the host does now and then (`event`): a, b in ms a step
  kLaunches,       // operations launched: a, b
  kSyncs,          // calls that wait for the GPU: a, b
  kFloatProducts,  // of the kernels' time, products that leave tensor cores idle: a, b
  kMemoryKernels,  // of the kernels' time, kernels that move memory: a, b
  kPageable,       // of the bytes copied to the GPU, from pageable memory: a, b
  kCopiedBytes,    // copied to the GPU: a, b
};

struct MovedReason {
  MovedBy kind = MovedBy::kStage;
  std::string what = {};
  std::string place = {};
  double a = 0;
  double b = 0;
  trace::HostWorkKind event = trace::HostWorkKind::kCollection;
};

/// The part of a step's time that moved most in the direction of the whole.
struct Moved {
  PartTime part;
  std::optional<MovedReason> reason;  // none: nothing that was recorded says why
};

/// Every part that either side has, by how much it moved; none where the sides' parts are not the
/// same kind (one recorded its GPU and the other did not). `us_a`, `us_b`: of a step or a sample.
std::vector<PartTime> part_times(const Side& a, const Side& b, double us_a, double us_b);

/// That part, where B has more of it.
std::optional<Moved> grown_part(const Side& a, const Side& b, const std::vector<PartTime>& parts,
                                std::string_view part);

/// Nothing where no part moved in that direction.
std::optional<Moved> find_moved(const Side& a, const Side& b, const std::vector<PartTime>& parts);

}  // namespace unstarve::compare
