#pragma once

#include <vector>

#include "predict/speedup.h"
#include "trial/verification.h"
#include "tune/reason/reason.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// Less is worth no change of a job.
inline constexpr double kWorthChanging = trial::kWorthKeeping;

/// Old / new time, between two runs without the lever, one before and one after it; per sample
/// where `per_sample`. All were measured.
predict::Speedup speedup_between(const TrialResult& before, const TrialResult& after,
                                 const TrialResult& again, bool per_sample);

/// The same between the fastest run of each; what disturbs a machine makes runs slower, for a
/// while.
predict::Speedup speedup_of_fastest(const std::vector<TrialResult>& without,
                                    const std::vector<TrialResult>& with, bool per_sample);

/// That nothing is known to be `needed` times as fast.
Reason no_certain_gain(double needed);

/// By how much runs of the same job that follow each other differ: 0.01 is 1 % (the root of the
/// mean square, or by the median what that would be if all differed alike, whichever is less; of
/// two runs, their difference). `mean_steps_s`: in the order in which they ran.
double noise_among(const std::vector<double>& mean_steps_s);

/// What a second search of the same job may find: an interval knows the steps of the runs that were
/// compared, and not by how much other runs would differ from them.
predict::Speedup with_noise(const predict::Speedup& speed, double noise_ratio);

/// What a lower bound has to beat.
double threshold(double noise_ratio);

/// Whether two runs differ by so much that a third can change nothing: by more than any two of the
/// job as it is (`as_it_is_s`, in their order), and far more than the noise.
bool is_beyond_doubt(const TrialResult& before, const TrialResult& with,
                     const std::vector<double>& as_it_is_s);

/// Samples that a step of `result` holds, to be held against those of `other`: without the short
/// last batches of passes, where both know them, since one trial may end a pass and another not.
double samples_of_step(const TrialResult& result, const TrialResult& other);

/// Why a run leaves out steps that the job as it is makes: its scaled gradients overflow. None: it
/// does not.
Reason skipped_steps(const TrialResult& before, const TrialResult& with);

/// After how many steps `with` has made up for a start that took longer than that of `first`, the
/// job's first run; 0 where it took no longer, or the lever makes no step faster.
double steps_to_pay_off(const TrialResult& first, const TrialResult& before,
                        const TrialResult& with);

/// Why a run is not faster work but less of it; none: it is the same work. What is not known of
/// either is not compared. `passes_ratio`: of backward passes a step, as the lever changes them.
Reason less_work(const TrialResult& before, const TrialResult& after, double passes_ratio = 1);

/// All of these: why a run that was measured proves nothing beside `before`, since it takes too
/// much memory, leaves out steps or does other work. None: it does the same.
Reason goes_otherwise(const TrialResult& before, const TrialResult& with, double passes_ratio = 1);

}  // namespace unstarve::tune
