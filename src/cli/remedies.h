#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis.h"
#include "cli/calibration.h"
#include "diagnose/diagnose.h"
#include "predict/what_if.h"

namespace unstarve::cli {

/// Ids of the remedies whose gain is predicted.
inline constexpr const char* kMoreWorkers = "more_workers";
inline constexpr const char* kUnstarveLoader = "unstarve_loader";
inline constexpr const char* kUnstarveCache = "unstarve_cache";
inline constexpr const char* kUnstarveShards = "unstarve_shards";

/// The configuration that a remedy would set.
struct WorkerPlan {
  int workers = 0;
  int prefetch_factor = 0;
};

/// The first remedy with this id that a finding offers; null when none does.
const diagnose::Remedy* find_remedy(const diagnose::Diagnosis& diagnosis, std::string_view id);

/// The value of UNSTARVE_FIX that makes the hook set this plan in the job.
std::string fix_variable(const WorkerPlan& plan);

/// The value of UNSTARVE_FIX that makes the hook put unstarve's loader in the place of torch's.
std::string native_loader_variable();

/// The workers that the diagnosis advises; none when it does not.
std::optional<WorkerPlan> plan_workers(const Analysis& analysis);

/// Predicts every remedy that can be predicted; what cannot is said in `analysis.remarks`, and the
/// remedy's prediction stays absent.
std::vector<diagnose::RemedyPrediction> predict_remedies(Analysis& analysis,
                                                         const Calibration& calibration);

}  // namespace unstarve::cli
