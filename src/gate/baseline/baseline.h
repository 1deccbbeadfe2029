#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compare/moved.h"

namespace unstarve::gate {

/// One time that a baseline was accepted.
struct Acceptance {
  std::string when;    // "2026-05-01"
  std::string reason;  // of whoever accepted it
  double step_us = 0;  // mean over its runs
};

/// Runs of a job that later ones are judged by, without their recordings: a few kB of a repository
/// (docs/formats/baseline.md).
struct Baseline {
  compare::Side side;                   // each run's steps are one block
  std::string emulated_gpu;             // "a100"; empty: a real one, or none
  std::vector<Acceptance> acceptances;  // the newest last
};

std::string baseline_json(const Baseline& baseline);

/// Errors: kNotFound; kCorruptData where it is none, or of a version that is not known.
Result<Baseline> read_baseline(const std::string& path);

/// Whether a file is named, which then has to be a baseline; else it is a git reference.
bool is_baseline(const std::string& path);

}  // namespace unstarve::gate
