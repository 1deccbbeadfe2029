#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/options/command_line.h"
#include "cost/rates/rates.h"

namespace unstarve::cli {

/// What a user said of prices.
struct CostOptions {
  double price = 0;
  double carbon_g_per_kwh = 0;
  double pue = 0;
  std::string file;
  // Which of the numbers were given; none before add_cost_options().
  std::optional<Option> has_price = {};
  std::optional<Option> has_carbon = {};
  std::optional<Option> has_pue = {};
};

/// --price, --carbon, --pue and --costs, of every command that says what a run cost.
void add_cost_options(Command& command, CostOptions& options);

/// These, else the environment's, else the defaults. Errors: as cost::find_rates().
Result<cost::Rates> rates_of(const CostOptions& options);

}  // namespace unstarve::cli
