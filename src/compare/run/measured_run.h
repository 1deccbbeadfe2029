#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "compare/run/setting.h"
#include "compare/run/step_blocks.h"
#include "cost/usage/usage.h"
#include "diagnose/diagnosis/diagnosis.h"
#include "examine/examination.h"

namespace unstarve::compare {

/// What of a run or a trace is compared. The recording itself, which is large, is no part of it.
struct MeasuredRun {
  std::string name;  // of its folder or file
  std::string path;
  std::vector<StepBlock> blocks;        // of the steps in which it trains
  std::map<std::string, double> whole;  // by RunMeasure::id, those that are known
  /// Shares of a step's time by part: those of the worst device's partition, or, where no GPU was
  /// recorded, what the training thread does. They sum to 1. Empty: neither is known.
  std::map<std::string, double> parts;
  bool parts_of_gpu = false;
  diagnose::Signals signals;
  std::vector<diagnose::Finding> findings;
  std::vector<diagnose::NamedEvent> events;
  diagnose::CodeTime own_code;    // of the training thread, outside of its loaders
  diagnose::CodeTime fetch_code;  // of fetches
  diagnose::CodeTime sync_code;   // where the training thread blocks
  RunSettings settings;
  cost::Usage usage;
  bool emulated = false;
};

/// Of a folder or a file: of "runs/a/" it is "a", as of "runs/a".
std::string name_of(const std::string& path);

/// Errors: kNotSupported where it has too few steps.
Result<MeasuredRun> measured_run(const examine::Examination& examined, const std::string& path);

}  // namespace unstarve::compare
