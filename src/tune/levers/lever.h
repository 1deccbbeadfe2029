#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace unstarve::tune {

/// What a lever may do to the numbers that a training computes.
enum class Numerics : std::uint8_t {
  kExact,       // nothing by design; sums may be added up in another order
  kRounding,    // rounds otherwise
  kRedrawn,     // random transforms draw other numbers
  kTrajectory,  // the training is another one: never accepted, only proposed
};

/// One thing that can be changed about a job without a change of its code.
struct Lever {
  std::string id;         // "bf16_autocast", "threads=4", "workers=8"
  std::string hook;       // the lever's name in the hook; empty: it is none of the hook's
  std::string settings;   // of the hook's lever, a JSON object
  std::string what;       // in words
  std::string permanent;  // what keeps it, in words
  std::string group;      // of levers of one group at most one is kept
  Numerics numerics = Numerics::kExact;
  std::vector<std::pair<std::string, std::string>> environment = {};
  // An argument of the command and its value; an empty option: none.
  std::string option = {};
  std::string value = {};
};

}  // namespace unstarve::tune
