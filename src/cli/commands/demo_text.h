#pragma once

#include <string>
#include <vector>

#include "advise/parts/prediction_basis.h"
#include "examine/calibration/image_sample.h"
#include "examine/examination.h"
#include "feed/pack/pack_job.h"
#include "trial/verification.h"

namespace unstarve::cli {

// What the demo says. Lines that belong to a run are indented, with a word or two in front.

/// "3.16x [2.98..3.33]", or why there is none.
std::string prediction_text(const examine::Examination& before, const std::string& remedy);
/// "3.31x [3.24..3.38], as predicted".
std::string measured_text(const trial::Verification& tried);
/// What filling the cache took, and what it holds.
std::string filled_text(const examine::FilledCache& cache, const advise::Calibration& calibration);
/// What packing took, and what came out.
std::string packed_text(const feed::PackSummary& packed);

/// What the remedies that feed the GPU differ in: the CPU that they take. Empty where none does.
std::string what_feeding_costs(const std::vector<trial::Verification>& tried);
/// "1.6 s for 4096 images, 0.73 ms of CPU per image (0.39 without a cache)".
std::string filling_cost(const examine::FilledCache& cache, const advise::Calibration& calibration);
/// The same as a sentence about what the remedy's measurement leaves out.
std::string what_filling_costs(const examine::FilledCache& cache,
                               const advise::Calibration& calibration);

}  // namespace unstarve::cli
