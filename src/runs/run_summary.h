#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/reading.h"
#include "trace/store/run_rows.h"

namespace unstarve::runs {

/// What lists say of a run: all that is known of it but its rows. One row of the index.
struct RunSummary {
  std::string name;             // its path below the folder of runs: "2026-05-01_14-03-22_train"
  std::string fingerprint;      // of the files that this was read from (folder_scan.h)
  std::int64_t changed_ns = 0;  // when the last of them was changed, in ns since 1970
  std::int64_t read_ns = 0;     // when this was read
  std::string problem;          // why the run cannot be read; empty: it was

  std::string run_id;
  std::string command_json;  // an array of words
  std::int64_t started_wall_ns = 0;
  bool has_ended = false;                   // false: it goes on, or its watcher was killed
  Reading<double> duration_s = {};          // of a run that has ended
  Reading<std::int64_t> exit_code = {};     // likewise; absent where it says nothing of the job
  Reading<std::int64_t> exit_signal = {};   // of a job that a signal ended
  bool stopped_by_us = false;               // a trial that had been watched for long enough
  Reading<std::int64_t> attached_pid = {};  // of a job that was there before
  std::string stage;
  std::string host;
  std::string device_kind;
  std::string device_name;
  std::string unstarve_version;
  std::string watcher;  // host/process_identity.h

  Reading<std::int64_t> steps = {};
  // The verdict's; absent before it, and in runs of earlier versions.
  Reading<double> step_us = {};  // the median
  Reading<double> samples_per_s = {};
  Reading<double> au_ratio = {};
  Reading<double> gpu_idle_ratio = {};
  Reading<std::int64_t> leading_finding = {};  // an index; absent: none, or not judged

  std::string tags;  // with a blank between two
  std::string note;
  std::int64_t size_bytes = 0;  // of what lies in its folder
};

/// A run with what was found in it.
struct CollectedRun {
  RunSummary summary;
  std::vector<trace::FindingRow> findings;
  std::vector<trace::PredictionRow> predictions;
};

/// The finding that the verdict begins with; of a run of an earlier version that of the largest
/// share. Null where there is none.
const trace::FindingRow* leading_finding(const CollectedRun& run);

/// The words of the command.
std::vector<std::string> command_of(const RunSummary& run);
std::vector<std::string> tags_of(const RunSummary& run);

/// The folder that several runs lie in: "ID" of "ID/train"; empty for a run alone.
std::string group_of(const RunSummary& run);

}  // namespace unstarve::runs
