#pragma once

#include <map>
#include <string>

#include "advise/advice.h"
#include "advise/parts/prediction_basis.h"
#include "base/reading.h"
#include "base/result.h"
#include "diagnose/partition/partition.h"

namespace unstarve::advise {

/// Whether the job waits enough for its loader that a gain is worth predicting.
bool can_gain_by_loading(const diagnose::Diagnosis& diagnosis);

/// What a gain can be predicted from: the steps of the rank that was diagnosed, its machine, and
/// what was measured there.
/// Errors: as predict::measure_pipeline(); kNotSupported where it has too few steps to resample.
Result<PredictionBasis> prediction_basis(const diagnose::PartitionedJob& job,
                                         const diagnose::Diagnosis& diagnosis,
                                         const Measured& measured);

/// Predicts the gain of every remedy of loading that is offered and can be predicted.
Predictions predict_gains(const diagnose::Diagnosis& diagnosis, const JobFacts& job,
                          const PredictionBasis& basis);

/// How earlier predictions did, by remedy.
using TrackRecords = std::map<std::string, predict::TrackRecord>;

/// Predicts the gain of every remedy of the training itself (CatalogueEntry::edit) that is offered,
/// from the signals alone: none whose signals are absent, and none from too few steps.
Predictions predict_edits(const diagnose::Diagnosis& diagnosis, const JobFacts& job,
                          const TrackRecords& past);

}  // namespace unstarve::advise
