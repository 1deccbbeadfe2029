#pragma once

#include <cstdint>

#include "emulated/profile/profile.h"

namespace unstarve::emulated {

/// The physics of a board: power and temperature follow the load with a first-order lag, the power
/// cap and the temperature hold the clocks back. Only what is shown follows from it: the step time
/// stays that of the profile, whose source measured it on a board that was itself capped.
class BoardModel {
 public:
  struct State {
    double power_w = 0;
    double energy_j = 0;
    double temperature_c = 0;
    double sm_clock_mhz = 0;
    double memory_clock_mhz = 0;
    std::uint64_t throttle_reasons = 0;
  };

  explicit BoardModel(const Profile& profile);

  /// Lets `seconds` pass under `load` (0 idle, 1 everything at once); `busy` is whether anything
  /// ran.
  const State& advance(double seconds, double load, bool busy);
  const State& state() const { return state_; }

 private:
  Profile profile_;
  State state_;
};

}  // namespace unstarve::emulated
