#pragma once

#include <string>
#include <vector>

#include "report/report_model.h"

namespace unstarve::report {

/// The verified remedy with the largest measured speed-up; null when nothing was tried.
const Verification* best_verified(const std::vector<Verification>& verification);

/// "more_workers made the job 2.11x [2.04..2.18] faster; predicted ..., which held"
std::string proof_sentence(const Verification& tried);

/// The first remedy of the first finding that has one, with its prediction; empty when none has.
std::string next_sentence(const diagnose::Diagnosis& diagnosis);

/// A signal that was missing, and the rules that stayed silent for it.
struct UnseenSignal {
  std::string signal;
  std::string consequence;  // "not supported here, so no word on memory_bound, throttled"
};
std::vector<UnseenSignal> unseen_signals(const diagnose::Diagnosis& diagnosis);

}  // namespace unstarve::report
