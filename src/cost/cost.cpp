#include "cost/cost.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace unstarve::cost {

namespace {

using diagnose::Cause;

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kGramsPerKg = 1e3;
constexpr std::size_t kTraining = static_cast<std::size_t>(Phase::kTraining);

Reading<double> scaled(const Reading<double>& value, double factor) {
  if (!value) return value;
  return *value * factor;
}

/// As operator+ for amounts.
Reading<double> added(const Reading<double>& a, const Reading<double>& b) {
  if (!a) return a;
  if (!b) return b;
  return *a + *b;
}

Amount nothing() { return {0.0, 0.0, 0.0, 0.0}; }

/// Energy that was measured, as the site's.
void set_energy(const Reading<double>& joules, const Rates& rates, Amount& amount) {
  amount.kwh = scaled(joules, rates.pue.value / kJoulesPerKwh);
  amount.co2_kg = scaled(amount.kwh, rates.carbon_g_per_kwh.value / kGramsPerKg);
}

/// A GPU in MIG mode has a price for its part only where somebody says one.
std::optional<Rate> price_of(const UsedGpu& gpu, const Rates& rates) {
  return gpu.split ? rates.price : rates.price_of(gpu.name);
}

/// What one GPU took for so long. Of no time at all nothing was taken, whatever was not measured.
Amount amount_of(const UsedGpu& gpu, double seconds, const Energy& energy, const Rates& rates) {
  if (seconds <= 0) return nothing();
  Amount amount;
  amount.gpu_hours = seconds / kSecondsPerHour;
  const auto price = price_of(gpu, rates);
  amount.usd = price ? Reading<double>(*amount.gpu_hours * price->value)
                     : Reading<double>(WhyAbsent::kNotObserved);
  set_energy(energy.joules, rates, amount);
  return amount;
}

Amount amount_of(const UsedGpu& gpu, std::size_t phase, const Rates& rates) {
  return amount_of(gpu, gpu.seconds[phase], gpu.energy[phase], rates);
}

Amount amount_of(const Usage& usage, std::size_t phase, const Rates& rates) {
  Amount sum = nothing();
  for (const UsedGpu& gpu : usage.gpus) sum = sum + amount_of(gpu, phase, rates);
  return sum;
}

/// Energy of all phases together. One of which nothing was measured is left out, which
/// Cost::covered_ratio says; absent where that is all of them.
Reading<double> measured_sum(const ByPhase<Amount>& phases, const ByPhase<bool>& lasted,
                             Reading<double> Amount::*energy) {
  Reading<double> sum = WhyAbsent::kNotObserved;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const Reading<double>& part = phases[i].*energy;
    if (!lasted[i]) continue;
    if (sum && part) {
      sum = *sum + *part;
    } else if (!sum) {
      sum = part;
    }
  }
  return sum;
}

Amount gpus_of(const ByPhase<Amount>& phases) {
  ByPhase<bool> lasted{};
  for (std::size_t i = 0; i < kPhaseCount; ++i) lasted[i] = phases[i].gpu_hours.value_or(0) > 0;
  Amount sum = phases[0] + phases[1] + phases[2];
  sum.kwh = measured_sum(phases, lasted, &Amount::kwh);
  sum.co2_kg = measured_sum(phases, lasted, &Amount::co2_kg);
  return sum;
}

Amount processors_of(const Usage& usage, const Rates& rates) {
  ByPhase<Amount> phases{};
  ByPhase<bool> lasted{};
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    lasted[i] = usage.seconds[i] > 0;
    set_energy(usage.cpu[i].joules, rates, phases[i]);
  }
  Amount sum = {WhyAbsent::kNotSupported, WhyAbsent::kNotSupported};
  sum.kwh = measured_sum(phases, lasted, &Amount::kwh);
  sum.co2_kg = measured_sum(phases, lasted, &Amount::co2_kg);
  return sum;
}

double covered_ratio(const Usage& usage) {
  double covered_s = 0;
  double all_s = 0;
  for (const UsedGpu& gpu : usage.gpus) {
    for (std::size_t i = 0; i < kPhaseCount; ++i) {
      covered_s += gpu.energy[i].covered_ratio * gpu.seconds[i];
      all_s += gpu.seconds[i];
    }
  }
  return all_s > 0 ? covered_s / all_s : 0;
}

/// By cause, over all GPUs; empty where the activity of one was not recorded.
std::vector<Amount> causes_of(const Usage& usage, const Rates& rates) {
  std::vector<Amount> causes(diagnose::kCauseCount, nothing());
  for (const UsedGpu& gpu : usage.gpus) {
    if (!gpu.shares) return {};
    const Amount training = amount_of(gpu, kTraining, rates);
    for (std::size_t i = 0; i < causes.size(); ++i) {
      causes[i] = causes[i] + training * (*gpu.shares)[i];
    }
  }
  return usage.gpus.empty() ? std::vector<Amount>() : causes;
}

}  // namespace

Amount operator+(const Amount& a, const Amount& b) {
  return {added(a.gpu_hours, b.gpu_hours), added(a.usd, b.usd), added(a.kwh, b.kwh),
          added(a.co2_kg, b.co2_kg)};
}

Amount operator*(const Amount& amount, double factor) {
  return {scaled(amount.gpu_hours, factor), scaled(amount.usd, factor), scaled(amount.kwh, factor),
          scaled(amount.co2_kg, factor)};
}

bool is_idle(Cause cause) {
  switch (cause) {
    case Cause::kGpuCompute:
    case Cause::kExposedCommunication:
    case Cause::kExposedCopy: return false;
    case Cause::kInputWait:
    case Cause::kSync:
    case Cause::kLaunch:
    case Cause::kKernelWait:
    case Cause::kOther: break;
  }
  return true;
}

std::optional<Rate> price_of(const Usage& usage, const Rates& rates) {
  std::optional<Rate> common;
  for (const UsedGpu& gpu : usage.gpus) {
    const auto price = price_of(gpu, rates);
    if (!price || (common && common->value != price->value)) return std::nullopt;
    common = price;
  }
  return common;
}

Amount hour_of_gpus(const Usage& usage, const Rates& rates) {
  Amount hour = usage.gpus.empty() ? Amount() : nothing();
  for (const UsedGpu& gpu : usage.gpus) {
    const double seconds = gpu.seconds[kTraining];
    if (seconds <= 0) return {};
    Energy energy = gpu.energy[kTraining];
    // Of the time in which it was measured, as of all of it.
    if (energy.joules) energy.joules = *energy.joules / energy.covered_ratio;
    hour = hour + amount_of(gpu, seconds, energy, rates) * (kSecondsPerHour / seconds);
  }
  return hour;
}

Amount hour_of_training(const Usage& usage, const Rates& rates) {
  const Amount hour = hour_of_gpus(usage, rates);
  const Energy& cpu = usage.cpu[kTraining];
  const double seconds = usage.seconds[kTraining];
  if (!cpu.joules || seconds <= 0) return hour;
  Amount processors = {0.0, 0.0};
  set_energy(*cpu.joules / cpu.covered_ratio, rates, processors);
  return hour + processors * (kSecondsPerHour / seconds);
}

Cost cost_of(const Usage& usage, const Rates& rates, const std::optional<Change>& change) {
  Cost cost;
  cost.gpus = usage.gpus.size();
  const auto any_gpu = [&](bool UsedGpu::*is) {
    return std::any_of(usage.gpus.begin(), usage.gpus.end(),
                       [&](const UsedGpu& gpu) { return gpu.*is; });
  };
  cost.emulated = any_gpu(&UsedGpu::emulated);
  cost.split = any_gpu(&UsedGpu::split);
  cost.by_power = any_gpu(&UsedGpu::by_power);
  cost.covered_ratio = covered_ratio(usage);
  cost.price = price_of(usage, rates);
  cost.carbon_g_per_kwh = rates.carbon_g_per_kwh;
  cost.pue = rates.pue;
  cost.processors = processors_of(usage, rates);
  if (usage.gpus.empty()) {
    cost.total.kwh = cost.processors.kwh;
    cost.total.co2_kg = cost.processors.co2_kg;
    return cost;
  }
  for (std::size_t i = 0; i < kPhaseCount; ++i) cost.phases[i] = amount_of(usage, i, rates);
  cost.all_gpus = gpus_of(cost.phases);
  cost.total = cost.all_gpus;
  if (cost.processors.kwh) {
    cost.total.kwh = added(cost.all_gpus.kwh, cost.processors.kwh);
    cost.total.co2_kg = added(cost.all_gpus.co2_kg, cost.processors.co2_kg);
  }
  cost.causes = causes_of(usage, rates);
  if (!cost.causes.empty()) {
    cost.idle = nothing();
    for (const Cause cause : diagnose::kAllCauses) {
      if (is_idle(cause)) cost.idle = cost.idle + cost.causes[static_cast<std::size_t>(cause)];
    }
    const double training = cost.phases[kTraining].gpu_hours.value_or(0);
    if (training > 0) cost.idle_ratio = *cost.idle.gpu_hours / training;
  }
  // A change that makes nothing faster gives nothing back.
  if (change && change->speedup.speedup > 1) {
    const double saved = 1 - 1 / change->speedup.speedup;
    cost.given_back = GivenBack{*change, cost.phases[kTraining] * saved,
                                hour_of_gpus(usage, rates) * (kHoursOfMonth * saved)};
  }
  return cost;
}

}  // namespace unstarve::cost
