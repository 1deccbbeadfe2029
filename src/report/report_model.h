#pragma once

#include <string>
#include <vector>

#include "base/reading.h"
#include "diagnose/diagnosis.h"
#include "predict/speedup.h"

namespace unstarve::report {

/// What one configuration of the job was measured to do.
struct Measurement {
  double step_us = 0;  // one optimizer step, wall time
  Reading<double> au;  // accelerator utilisation, 0..1, see docs/metrics.md
  Reading<double> images_per_s;
  Reading<double> cpu_cores;             // CPU seconds per second of the whole process tree
  Reading<double> gpu_utilization_mean;  // 0..1, as the driver reports it
};

/// A remedy that was tried: what was promised, what came of it.
struct Verification {
  std::string remedy;  // id, as in Remedy::id
  std::string how;     // what was changed, one sentence
  Reading<predict::Speedup> predicted;
  predict::Speedup measured;
  bool held = false;  // decided by whoever measured; report only prints it
  Measurement before;
  Measurement after;
  Reading<diagnose::Partition> partition_after;
};

/// A curve of ratios 0..1 over time, for example GPU utilisation before a fix. Points whose value
/// is not finite are gaps. `t_s` ascends and has as many entries as `value`.
struct Series {
  std::string label;  // "before", or the id of the remedy
  std::vector<double> t_s;
  std::vector<double> value;
};

/// A name and a value that are shown side by side: a version, an overhead.
struct Fact {
  std::string name;
  std::string value;
};

/// Where and how the run took place. Empty strings and absent readings are left out of the page.
struct RunFacts {
  std::string command;  // as typed
  std::string started;  // date and time, as a person reads it
  std::string host;
  std::string device;  // name, without the word "emulated"
  bool emulated = false;
  Reading<double> duration_s;
  std::vector<Fact> versions;
};

/// Everything that text and HTML show. The JSON is made of `diagnosis` and `verification` alone.
struct Report {
  diagnose::Diagnosis diagnosis;
  std::vector<Verification> verification;
  std::vector<Series> utilization;  // of the GPU; the first is the run that was diagnosed
  std::vector<Fact> own_cost;       // what watching cost, in words and numbers
  RunFacts facts;
};

}  // namespace unstarve::report
