#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/reading.h"
#include "diagnose/diagnosis/diagnosis.h"
#include "examine/measurement.h"
#include "predict/speedup.h"

namespace unstarve::trial {

/// A speed-up below this is worth no change of a script.
inline constexpr double kWorthKeeping = 1.02;

/// What a trial says of a remedy.
enum class Outcome {
  kNotKept,  // its run is not clearly faster than both runs around it
  kSlower,   // it is clearly slower than both
  kKept,     // clearly faster than both
};

/// "not_kept".
std::string_view to_string(Outcome outcome);
/// kNotKept where it is none of these words.
Outcome outcome_from(std::string_view word);
/// By itself, without what else is known of the noise.
Outcome outcome_of(const predict::Speedup& measured);

/// A remedy that was tried: what was promised, what came of it.
struct Verification {
  std::string remedy;  // id, as in the catalogue
  std::string how;     // what was changed, one sentence
  Reading<predict::Speedup> predicted;
  predict::Speedup measured;
  bool held = false;  // the measured speed-up lies in the predicted interval
  examine::Measurement before;
  examine::Measurement after;
  Reading<diagnose::Partition> partition_after;
  std::string run_dir = {};  // of the run with the remedy
  /// What `before` is the measurement of: the job as it is, or with the remedy kept before this
  /// one.
  std::string base = "before";
  /// The same once more, after the remedy: where it differs, so does the machine. None: not run.
  std::optional<examine::Measurement> again = {};
  Outcome outcome = Outcome::kNotKept;
  std::string permanent = {};   // in words, what keeps it
  std::string diff = {};        // the same for `patch -p1`; empty where nothing is certain to do it
  bool diff_from_root = false;  // it names the file from the file system's root on
};

}  // namespace unstarve::trial
