#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tune/levers/lever.h"
#include "tune/reason/reason.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// Whether a job computes with a lever what it computes without.
enum class Parity : std::uint8_t { kOk, kFailed, kNotObserved, kNotNeeded };
/// "ok", "failed", "not_observed", "not_needed".
std::string_view to_string(Parity parity);

/// The job as it is: twice with its own seed, and with others.
struct ParityBaseline {
  TrialResult same;
  TrialResult same_again;
  std::vector<TrialResult> other_seeds;
  std::optional<TrialResult> reference = {};  // its first step in FP64
};

struct ParityVerdict {
  Parity parity = Parity::kNotObserved;
  Reason why;
};

/// `candidate`: the job with the lever and its own seed. The first losses and norms of gradients
/// are compared one by one, within what rounding explains and what two runs of the same seed differ
/// by; the first gradient as a whole with that in FP64, where that is known; all losses as means of
/// five and more, which stay in the band of the seeds; and what becomes of each tensor (tensors.h).
/// `fewer_bits`: it rounds to 16 bits or so,
/// which in a model whose float32 gradient is far from FP64 explains any gradient; then the losses
/// have to tell.
ParityVerdict judge_parity(const ParityBaseline& baseline, const TrialResult& candidate,
                           Numerics numerics, bool fewer_bits = false);

/// Whether the first gradient in FP64 is known, and is the same but for rounding.
bool has_reference(const ParityBaseline& baseline);
/// How far the job's own first gradient is from that: a share of its length. Needs the reference.
double error_of_job(const ParityBaseline& baseline);

/// Why the baseline tells nothing; none where it does.
Reason why_not_observed(const ParityBaseline& baseline);

}  // namespace unstarve::tune
