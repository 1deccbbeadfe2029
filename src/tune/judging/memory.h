#pragma once

#include "predict/speedup.h"
#include "tune/reason/reason.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// Of a GPU's memory, what a job may take: steps differ in what they need, and so does a machine.
inline constexpr double kMostMemory = 0.95;

/// Why a lever takes too much memory, though it ran: the GPU is nearly full, or PyTorch had to give
/// memory back in order to go on. None: it does not, or the job as it is does so too.
Reason too_much_memory(const TrialResult& before, const TrialResult& with);

/// What a lever that is for its memory saves, and what it costs.
Reason memory_for_time(const TrialResult& before, const TrialResult& with,
                       const predict::Speedup& speedup);

}  // namespace unstarve::tune
