#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "base/result.h"

namespace unstarve::runs {

/// A summary of unstarve's begins with it; in base64 the gzip of a JSON object follows.
inline constexpr std::string_view kSummaryPrefix = "unstarve1:";

/// What unstarve said of a job that it watched (docs/formats/summary.md).
struct WatchedJob {
  std::string run;
  std::string verdict;  // at most twelve words
  std::string cause;
  std::string detail;
  Reading<double> share = {};  // of the finding, 0 to 1
  std::string change;          // the remedy that leads; empty: none
  std::string how;
  Reading<double> gain = {};  // its predicted speed-up
};

/// A job that had GPUs, by its record.
struct JobRecord {
  std::string job;
  std::string user, account, name, state;  // empty where sacct was not asked for them
  bool by_jobstats = false;                // the figures of GPUs and CPUs are jobstats'
  bool watched = false;                    // by unstarve
  WatchedJob said;

  Reading<double> elapsed_s = {};
  Reading<double> gpus = {};  // how many
  /// 0 to 1, the mean over GPUs of the driver's utilisation: the share of time in which any kernel
  /// ran.
  Reading<double> gpu_use_ratio = {};
  Reading<double> gpu_hours = {};
  /// By the watched run while it trained; else by the utilisation, which no kernel at all lowers:
  /// then at least so many.
  Reading<double> idle_gpu_hours = {};
  Reading<double> gpu_memory_used_bytes = {};  // of all its GPUs, the largest that was read of each
  Reading<double> gpu_memory_bytes = {};
  Reading<double> cpus = {};       // that it was given
  Reading<double> cpu_cores = {};  // that it used in the mean
};

struct JobRecords {
  std::vector<JobRecord> jobs;     // the most idle GPU hours first; unknown ones last
  std::size_t without_record = 0;  // too short, still going on, or not summarised
  std::size_t without_gpu = 0;
  std::size_t unreadable = 0;    // their record is damaged
  std::string first_unreadable;  // a job
};

/// `table`: what `sacct --parsable2` prints, with the columns JobID and AdminComment at least,
/// whose comments hold jobstats' summaries ("JS1:") or unstarve's ("unstarve1:"). Errors:
/// kInvalidArgument where it is no such table.
Result<JobRecords> read_job_records(std::string_view table);

}  // namespace unstarve::runs
