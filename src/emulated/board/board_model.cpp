#include "emulated/board/board_model.h"

#include <algorithm>
#include <cmath>

#include "device/gpu_readings.h"

namespace unstarve::emulated {

BoardModel::BoardModel(const Profile& profile) : profile_(profile) {
  state_.power_w = profile_.idle_w;
  state_.temperature_c = profile_.ambient_c + profile_.celsius_per_w * profile_.idle_w;
  state_.sm_clock_mhz = profile_.idle_sm_mhz;
  state_.memory_clock_mhz = profile_.memory_mhz;
  state_.throttle_reasons = device::throttle::kIdle;
}

const BoardModel::State& BoardModel::advance(double seconds, double load, bool busy) {
  const double wanted_w = profile_.idle_w + (profile_.peak_w - profile_.idle_w) * load;
  const double target_w = std::min(wanted_w, profile_.power_cap_w);

  // Exact solution of dP/dt = (target - P) / tau over the interval, and its integral.
  const double tau_s = profile_.power_tau_s;
  const double decay = std::exp(-seconds / tau_s);
  const double before_w = state_.power_w;
  state_.power_w = target_w + (before_w - target_w) * decay;
  const double energy_j = target_w * seconds + (before_w - target_w) * tau_s * (1 - decay);
  state_.energy_j += energy_j;

  const double mean_w = seconds > 0 ? energy_j / seconds : state_.power_w;
  const double settled_c = profile_.ambient_c + profile_.celsius_per_w * mean_w;
  state_.temperature_c = settled_c + (state_.temperature_c - settled_c) *
                                         std::exp(-seconds / profile_.temperature_tau_s);

  state_.throttle_reasons = 0;
  state_.sm_clock_mhz = busy ? profile_.boost_sm_mhz : profile_.idle_sm_mhz;
  if (!busy) state_.throttle_reasons |= device::throttle::kIdle;
  if (wanted_w > profile_.power_cap_w) {
    state_.throttle_reasons |= device::throttle::kSoftwarePowerCap;
    // Dynamic power grows with the clock and the square of a voltage that grows with it.
    state_.sm_clock_mhz *= std::cbrt(profile_.power_cap_w / wanted_w);
  }
  if (state_.temperature_c > profile_.slowdown_c) {
    state_.throttle_reasons |= device::throttle::kSoftwareThermal;
  }
  return state_;
}

}  // namespace unstarve::emulated
