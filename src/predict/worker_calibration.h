#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unstarve::predict {

/// A mean of several batches and its standard error, in seconds.
struct MeasuredMean {
  double mean_s = 0;
  double error_s = 0;
};

/// Batches of the job's own data set, made by so many worker processes and thrown away.
struct MeasuredCrew {
  int workers = 0;
  std::int64_t batches = 0;   // behind the means
  MeasuredMean cpu = {};      // CPU time of a worker per batch, with what handing it over takes
  MeasuredMean wall = {};     // from one batch of a worker to its next
  MeasuredMean receive = {};  // CPU time of the training thread, to take a batch over
  MeasuredMean release = {};  // the same, to let go of it
};

/// What the hook measured before the training began (docs/hook.md, "Calibration").
struct WorkerCalibration {
  std::int64_t loader_id = 0;  // of the loader whose batches these were
  double samples = 0;          // in a batch
  MeasuredCrew one;
  MeasuredCrew many;  // as many as were asked for; the same as `one` where that is one
};

/// What a process's text says of a calibration: what was measured, else why nothing was.
struct CalibrationText {
  std::optional<WorkerCalibration> measured;
  std::string refused;  // empty where no calibration was asked for
};

/// Reads the text of a hook's ring (docs/formats/run.md), which may be anything. Numbers that no
/// measurement gives make the whole calibration refused.
CalibrationText read_worker_calibration(std::string_view process_text);

}  // namespace unstarve::predict
