#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/partition/partition.h"
#include "diagnose/signals/host_signals.h"
#include "diagnose/signals/signals.h"
#include "predict/speedup.h"
#include "trace/timeline.h"

namespace unstarve::diagnose {

struct DiagnoseOptions {
  std::string run_id;             // of a live run
  std::string loader_place;       // where the job makes its loader: "train.py:41"
  std::string image_folder = {};  // the job's data, where it is a folder of images; else empty
};

/// Says why a GPU idles, from what was recorded of the job and of its host.
///
///   Diagnosis diagnosis = diagnose(timeline, HostSignals{}, {});
///   attach_predictions(diagnosis, {{"more_workers", speedup}});
///
/// A remedy's `predicted` is absent until attach_predictions() fills it. The Timeline is sorted by
/// start. Pure: the same input gives the same answer.
Diagnosis diagnose(const PartitionedJob& partitioned, const HostSignals& host,
                   const DiagnoseOptions& options);
/// The same of a Timeline that nothing else looks at.
Diagnosis diagnose(const trace::Timeline& timeline, const HostSignals& host,
                   const DiagnoseOptions& options);

/// The signals that diagnose() reasons about, for callers that show or store them.
Signals derive_signals_of(const trace::Timeline& timeline, const HostSignals& host);

/// What a remedy would gain, said by predict.
struct RemedyPrediction {
  std::string remedy;  // Remedy::id
  predict::Speedup speedup;
};

/// Fills `predicted` of every remedy with such an id and writes the verdict anew.
void attach_predictions(Diagnosis& diagnosis, const std::vector<RemedyPrediction>& predictions);

}  // namespace unstarve::diagnose
