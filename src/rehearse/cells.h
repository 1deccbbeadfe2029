#pragma once

#include <string>
#include <vector>

#include "advise/parts/prediction_basis.h"
#include "emulated/profile/profile.h"
#include "predict/capacity/capacity.h"
#include "predict/worker_calibration.h"
#include "rehearse/rehearsal.h"

namespace unstarve::rehearse {

/// What the cells of a rehearsal are computed from.
struct CellBasis {
  const predict::FittedPipeline& fitted;
  const std::vector<emulated::Profile>& profiles;  // of the kinds
  advise::Calibration calibration;                 // unstarve's loader on the job's images
  predict::CalibrationText workers;                // the job's batches in worker processes
  const RehearsedRunFacts& run;
  double target_au = 0.9;
  double cores = 1;
};

/// `index`: of the kind, among the basis's profiles; the run was on the first of them.
RehearsedCell rehearse_cell(const CellBasis& basis, const RehearsedKind& kind, std::size_t index,
                            int gpus);

/// Device time of a step in the run.
double mean_device_s(const predict::FittedPipeline& fitted);

/// "Emulated NVIDIA A100-SXM4-80GB" without its first word.
std::string plain_device_name(std::string name);

}  // namespace unstarve::rehearse
