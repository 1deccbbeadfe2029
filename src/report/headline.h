#pragma once

#include <string>
#include <vector>

#include "report/model/report_model.h"

namespace unstarve::report {

/// "exit 0 after 60 steps in 12.2 s: 202.9 ms a step, 157 samples/s"; of a job that a signal ended
/// "The job ended by SIGSEGV after 3 steps", with the errors that a GPU reported. Empty where
/// neither its end nor a step was seen.
std::string what_happened(const Report& report);

/// What matters most, in at most twelve words: "The GPU waits for data 83 % of the time."
/// Never empty.
std::string short_headline(const Report& report);

/// "GPU 0 reported error XID 79 (GPU has fallen off the bus) after step 57: restart the machine;
/// ...": a sentence for each kind of error that a GPU reported, in the order in which they came.
std::vector<std::string> error_sentences(const Report& report);

/// Whether the job ended otherwise than well.
bool job_failed(const RunFacts& facts);

/// The finding that the verdict begins with; null where there is none.
const diagnose::Finding* leading_finding(const Report& report);

/// The verified remedy that, with what it was tried on top of, made the job fastest; null when
/// nothing was tried.
const Verification* best_verified(const std::vector<Verification>& verification);

/// "more_workers made the job 2.11x [2.04..2.18] faster; predicted ..., which held". Where it is
/// not to be kept, that and why.
std::string proof_sentence(const Verification& tried);

/// The remedy that the verdict names, with its prediction; where its finding has none, that of the
/// largest finding that has one; empty when none has.
std::string next_sentence(const advise::Advice& advice);

/// "GPU activity was not observed (this job trains on the CPU): ...": what, why, and how it would
/// be.
std::vector<std::string> not_observed_sentences(const advise::Advice& advice);

/// Signals that were missing for the same reason, and the rules that stayed silent for it.
struct Unseen {
  WhyAbsent why = WhyAbsent::kNotObserved;
  std::vector<std::string> signals;
  std::vector<std::string> rules;
};
std::vector<Unseen> unseen_by_reason(const diagnose::Diagnosis& diagnosis);

/// "train 45.0 s, exit 0: input_wait 62 %", each with what was found most; empty for a run alone.
std::vector<std::string> stage_sentences(const Report& report);

}  // namespace unstarve::report
