#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "cli/analysis.h"
#include "diagnose/diagnose.h"
#include "predict/what_if.h"

namespace unstarve::cli {

/// Ids of the remedies whose gain is predicted.
inline constexpr const char* kMoreWorkers = "more_workers";
inline constexpr const char* kUnstarveLoader = "unstarve_loader";

/// What unstarve's loader hands over.
enum class NativeOutput {
  kUint8,    // unstarve.ImageFolderLoader: pixels, normalised on the device
  kFloat32,  // unstarve.DataLoader in torch's place: what ToTensor and Normalize make
};

/// What a short measurement on this machine says, with the job's own files.
struct Calibration {
  Reading<double> sample_cpu_s = {};         // unstarve's loader, CPU seconds per sample
  double sample_bytes = 0;                   // that it hands over per sample
  Reading<double> parallel_efficiency = {};  // what each core after the first adds, 0..1
  int threads = 1;                           // that the second figure is for
};

/// Loads images of `image_folder` for about two seconds, with one thread and with all usable cores.
Result<Calibration> calibrate(const std::string& image_folder, NativeOutput output);

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
