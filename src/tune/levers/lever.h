#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/parts/application.h"
#include "script/edited_script.h"

namespace unstarve::tune {

/// What a lever may do to the numbers that a training computes.
enum class Numerics : std::uint8_t {
  kExact,       // nothing by design; sums may be added up in another order
  kRounding,    // rounds otherwise
  kRedrawn,     // random transforms draw other numbers
  kRegrouped,   // the same samples a step in other portions: the same sums, if losses are means
  kTrajectory,  // the training is another one: never accepted, only proposed
};

/// What of a step a lever is there to shorten.
enum class Eases : std::uint8_t {
  kCompute,     // what the device computes
  kProducts,    // products of matrices and convolutions in float32
  kPrecision,   // these, and what moves between them
  kFusion,      // what is no product; on a GPU the waiting for launches too
  kLaunches,    // the device's waiting for the host's next launch, and the gaps between kernels
  kOptimizer,   // the optimizer's step
  kZeroing,     // zero_grad()
  kMemory,      // calls for memory of the device
  kHostMemory,  // the system's work, which is mostly faulting memory in
  kCopies,      // copies to the device, while nothing else runs there
  kThreads,     // all that runs on the CPUs, by more of them
  kLoading,     // waiting for data
};

/// "optimizer".
std::string_view to_string(Eases eases);

/// One thing that can be changed about a job without a change of its code.
struct Lever {
  std::string id;         // "bf16_autocast", "threads=4", "workers=8"
  std::string hook;       // the lever's name in the hook; empty: it is none of the hook's
  std::string settings;   // of the hook's lever, a JSON object
  std::string what;       // in words
  std::string permanent;  // what keeps it, in words
  // What does in a script what the hook's lever does in the job; none: no text is certain to.
  std::optional<script::ScriptEdit> written = {};
  // Settings that do it where a trainer's loop calls the model, ready to be copied: by
  // "transformers" (5), "lightning" (2), "accelerate" (1).
  std::map<std::string, std::string> by_trainer = {};
  std::string group;  // of levers of one group at most one is kept
  Numerics numerics = Numerics::kExact;
  Eases eases = Eases::kCompute;
  // It costs time and saves memory: never kept for itself, and tried with larger batches.
  bool saves_memory = false;
  // It costs no time, and memory holds more with it: tried with larger batches too.
  bool makes_room = false;
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::optional<advise::Application> remedy = {};  // of a loader: what the hook makes of it
  // Arguments of the command, as options and values.
  std::vector<std::pair<std::string, std::string>> arguments = {};
  std::optional<double> most_saved = {};  // of a step, where that follows from the lever alone
  std::string missing = {};     // what it needs and is not here, or nobody allowed; empty: nothing
  std::string variant_of = {};  // a lever's id: where that is slower this one is too
  double passes_ratio = 1;      // backward passes of a step, over those of the job as it is
};

/// It rounds to 16 bits or so.
inline bool has_fewer_bits(const Lever& lever) {
  return lever.eases == Eases::kPrecision || lever.eases == Eases::kProducts;
}

/// The last of them, at least one, which may do to the results what they may together: what the one
/// of them may that may do most.
Lever as_one(const std::vector<Lever>& levers);

}  // namespace unstarve::tune
