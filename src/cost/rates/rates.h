#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unstarve::cost {

/// A price or a factor, and who says so: "list price of Lambda, 2026-09-20".
struct Rate {
  double value = 0;
  std::string source;
};

/// What an hour of a GPU and a kilowatt-hour cost.
struct Rates {
  std::optional<Rate> price = {};       // $ for an hour of any GPU; none: by its name
  std::map<std::string, Rate> by_name;  // of GPUs by what plain_name() says of them
  Rate carbon_g_per_kwh;                // CO2e
  Rate pue;                             // energy of the whole site / energy of the machines

  /// Of a GPU by the driver's name for it; none where nobody said a price.
  std::optional<Rate> price_of(const std::string& gpu) const;
};

/// "A100-SXM4-40GB" of "NVIDIA A100-SXM4-40GB" or "Emulated NVIDIA A100-SXM4-40GB": without maker,
/// brand and where it comes from.
std::string plain_name(std::string_view gpu);

/// What a user said on the command line.
struct RateWishes {
  std::optional<double> price = {};
  std::optional<double> carbon_g_per_kwh = {};
  std::optional<double> pue = {};
  std::string file;  // empty: none
};

/// The value of an environment variable; null where it is not set.
using Environment = std::function<const char*(const char* name)>;

/// The wishes' values before those of their file, these before the environment's (UNSTARVE_PRICE,
/// UNSTARVE_CARBON, UNSTARVE_PUE), these before the defaults: dated list prices of the commonest
/// GPUs, the world's mean of CO2, and a PUE of 1. Errors: a file that cannot be read or is none of
/// docs/costs.md; a value that is no number, or out of range.
Result<Rates> find_rates(const RateWishes& wishes, const Environment& environment);

/// The same where nobody says anything.
Rates default_rates();

/// What somebody says of them; what is not said is empty.
struct SaidRates {
  std::optional<Rate> price = {};
  std::map<std::string, Rate> by_name = {};
  std::optional<Rate> carbon_g_per_kwh = {};
  std::optional<Rate> pue = {};
};

/// A file as docs/costs.md has it. `name` is its own, for sources and errors. Errors: kCorruptData
/// where it is no JSON object, kInvalidArgument where a value is not what it may be.
Result<SaidRates> read_rates(std::string_view text, const std::string& name);

}  // namespace unstarve::cost
