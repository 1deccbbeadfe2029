#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"
#include "cost/rates/rates.h"
#include "cost/usage/usage.h"
#include "diagnose/partition/cause.h"
#include "predict/speedup.h"

namespace unstarve::cost {

/// What something took. What is not known is absent, never 0.
struct Amount {
  Reading<double> gpu_hours = {};
  Reading<double> usd = {};
  Reading<double> kwh = {};     // of the site: what was measured x PUE
  Reading<double> co2_kg = {};  // CO2e
};

/// A part that one of them lacks is absent: a sum without it would be none.
Amount operator+(const Amount& a, const Amount& b);
Amount operator*(const Amount& amount, double factor);

/// The change that a report names, and by how much it makes steps faster.
struct Change {
  std::string id;  // of the remedy
  predict::Speedup speedup;
  bool measured = false;  // else predicted
};

/// What a change would give back, or gave: of the GPUs' time. Their energy is taken for that of as
/// much time as is saved, though what they compute stays: it is at most this.
struct GivenBack {
  Change change;
  Amount run;    // of this run's training
  Amount month;  // of training at this rate for a month
};

/// What a run cost.
struct Cost {
  std::size_t gpus = 0;
  bool emulated = false;     // energy is modelled, and nothing was rented
  bool split = false;        // by MIG
  bool by_power = false;     // energy, of at least one GPU
  double covered_ratio = 0;  // of the GPUs' time in which energy was measured
  Amount total;              // GPUs and processors
  Amount all_gpus;
  Amount processors;  // the job's share; no GPU-hours, no money
  ByPhase<Amount> phases{};
  /// Of the training, by diagnose::Cause. Empty: the GPUs' activity was not recorded. Energy is
  /// divided by time: what a GPU takes while it idles is less, so that idle energy is at most this.
  std::vector<Amount> causes;
  Amount idle;  // the causes in which nothing runs on a GPU
  Reading<double> idle_ratio = {};
  std::optional<GivenBack> given_back;
  std::optional<Rate> price;  // none: no price is known, or GPUs have several
  Rate carbon_g_per_kwh;
  Rate pue;
};

/// Whether nothing runs on a GPU in the time that is given to a cause.
bool is_idle(diagnose::Cause cause);

/// Hours of a month: 365 days / 12.
inline constexpr double kHoursOfMonth = 730;

Cost cost_of(const Usage& usage, const Rates& rates, const std::optional<Change>& change);

/// The one price of all GPUs of a job; none where it is not known, or they have several.
std::optional<Rate> price_of(const Usage& usage, const Rates& rates);

/// What an hour of training takes on all GPUs of a job. Absent where it did not train.
Amount hour_of_gpus(const Usage& usage, const Rates& rates);

/// The same with the processors' energy, where it was measured.
Amount hour_of_training(const Usage& usage, const Rates& rates);

}  // namespace unstarve::cost
