#include "cli/options/cost_options.h"

#include <cstdlib>

namespace unstarve::cli {

namespace {

std::optional<double> wish(const std::optional<Option>& option, double value) {
  return option && option->was_given() ? std::optional(value) : std::nullopt;
}

}  // namespace

void add_cost_options(Command& command, CostOptions& options) {
  options.has_price =
      command.option("--price", options.price,
                     "$ for an hour of one GPU (default: UNSTARVE_PRICE, else a list price)");
  options.has_carbon = command.option(
      "--carbon", options.carbon_g_per_kwh,
      "g of CO2e for a kWh (default: UNSTARVE_CARBON, else the world's average, 475)");
  options.has_pue = command.option(
      "--pue", options.pue,
      "energy of the site / energy of the machine (default: UNSTARVE_PUE, else 1: no cooling)");
  command.option("--costs", options.file, "a JSON file of these, with sources (docs/costs.md)");
}

Result<cost::Rates> rates_of(const CostOptions& options) {
  return cost::find_rates(
      {wish(options.has_price, options.price), wish(options.has_carbon, options.carbon_g_per_kwh),
       wish(options.has_pue, options.pue), options.file},
      [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace unstarve::cli
