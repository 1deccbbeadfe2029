#pragma once

#include <string>

#include "predict/speedup.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// Less is worth no change of a job.
inline constexpr double kWorthChanging = 1.02;

/// Old / new time, between two runs without the lever, one before and one after it; per sample
/// where `per_sample`. All were measured.
predict::Speedup speedup_between(const TrialResult& before, const TrialResult& after,
                                 const TrialResult& again, bool per_sample);

/// By how much two runs of the same job differ: 0.01 is 1 %.
double noise_between(const TrialResult& one, const TrialResult& other);

/// What a lower bound has to beat.
double threshold(double noise_ratio);

/// Why a run is not faster work but less of it; empty: it is the same work. What is not known of
/// either is not compared.
std::string less_work(const TrialResult& before, const TrialResult& after);

}  // namespace unstarve::tune
