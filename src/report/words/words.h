#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/report_model.h"

namespace unstarve::report {

/// One part of the partition: its name in every interface, and what it means.
struct ShareWord {
  std::string_view name;
  double diagnose::Partition::*share;  // null: no part of the partition
  std::string_view meaning;
};

/// All eight, in the order in which bars and legends show them.
std::span<const ShareWord> share_words();

/// What a training thread does in a step, in the order in which bars show it.
std::span<const ShareWord> thread_words();

/// A share to be drawn: the word and its part of the whole in thousandths.
struct RoundedShare {
  const ShareWord* word;
  int per_mille;
};

/// The shares as thousandths that sum to exactly 1000 (largest remainder), so that a legend printed
/// with one decimal adds up. Empty when nothing in the partition is positive.
std::vector<RoundedShare> rounded_shares(const diagnose::Partition& partition);

/// What the training thread does in a step, in the same form: input_wait, sync, own_work. For a job
/// without a partition.
std::vector<RoundedShare> rounded_shares(const diagnose::ThreadTime& time);

/// Splits `total` into whole parts in proportion to `weights` (largest remainder). Negative and
/// non-finite weights count as zero; all zeros give all zeros.
std::vector<int> apportion(std::span<const double> weights, int total);

std::string_view input_kind_name(trace::InputKind kind);  // "kineto", "run", "nsys", "csv"
std::string_view confidence_name(diagnose::Confidence confidence);  // "clear", "ambiguous"
std::string_view why_words(WhyAbsent why);                          // "not supported here", ...

/// "waiting for the data loader: decoding images": for people, without the names of the interfaces.
std::string finding_words(const diagnose::Finding& finding);
/// "torch.cuda.empty_cache() 120 times (train.py:57), 3.1 % of the time", ...: of a diagnosis'
/// events those that a reader should know of, in one sentence; empty where there are none.
std::string events_text(const diagnose::Diagnosis& diagnosis);
/// "empty_cache": the name of a kind of event in JSON.
std::string_view event_name(trace::HostWorkKind kind);
/// "SIGSEGV"; of one without a name of its own "signal 40".
std::string signal_name(std::int64_t number);
/// "input_wait / decode_cpu", or the cause alone.
std::string finding_title(const diagnose::Finding& finding);

std::string per_mille_text(int per_mille);  // 712 -> "71.2 %"

/// True when any device of the report is emulated; every output must then say so.
bool is_emulated(const Report& report);
/// "NVIDIA A100 (emulated)", or empty when the device is not known.
std::string device_text(const Report& report);
/// How far an emulated GPU's durations by the roofline are from real ones; empty where they are not
/// the roofline's alone. A sentence.
std::string roofline_text(const Report& report);

/// How much of the time a device was recorded in; empty where it was all of it. A sentence.
std::string recorded_text(const diagnose::DeviceDiagnosis& device);
/// What of a long run is kept whole; empty where all is.
std::string kept_text(const RunFacts& facts);

/// The same, and what is taken for granted at the edges of the recording: sentences, none where all
/// of the time was recorded and nothing taken for granted.
std::vector<std::string> recording_notes(const diagnose::DeviceDiagnosis& device);

/// The device whose partition stands for the whole: the worst one. Null when there is none.
const diagnose::DeviceDiagnosis* shown_device(const diagnose::Diagnosis& diagnosis);

}  // namespace unstarve::report
