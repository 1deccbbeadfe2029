#include "report/costs/cost_words.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/number_words.h"
#include "base/units.h"
#include "predict/speedup.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

using cost::Amount;
using cost::Cost;
using cost::Phase;

constexpr double kMinutesPerHour = 60;
constexpr double kJoulesPerWh = 3600;

const Amount& phase(const Cost& cost, Phase phase) {
  return cost.phases[static_cast<std::size_t>(phase)];
}

/// "$0.91, up to 0.08 kWh and 38 g CO2e": what is known of it. Energy that is divided by time is
/// the most that idle time may have taken.
std::string amount_words(const Amount& amount, bool at_most) {
  std::string text;
  if (amount.usd) text = usd_text(*amount.usd);
  if (!amount.kwh) return text;
  return fmt::format("{}{}{}{}", text, text.empty() ? "" : ", ", at_most ? "up to " : "",
                     fmt::format("{} and {} CO2e", energy_text(*amount.kwh),
                                 mass_text(amount.co2_kg.value_or(0))));
}

/// Less training than that says nothing of a month.
constexpr double kLeastTrainingHours = 60.0 / kSecondsPerHour;

bool tells_of_a_month(const Cost& cost) {
  return phase(cost, Phase::kTraining).gpu_hours.value_or(0) >= kLeastTrainingHours;
}

/// "the change would give back $0.61, in a month of it $440"; in GPU-hours without a
/// price.
std::string given_back_words(const Cost& cost) {
  if (!cost.given_back) return {};
  const cost::GivenBack& back = *cost.given_back;
  const bool money = back.run.usd && back.month.usd;
  const auto words = [&](const Amount& amount) {
    return money ? usd_text(*amount.usd) : gpu_hours_text(amount.gpu_hours.value_or(0));
  };
  std::string text = fmt::format(
      "the change {} {}", back.change.measured ? "gives back" : "would give back", words(back.run));
  return tells_of_a_month(cost) ? text + ", in a month of it " + words(back.month) : text;
}

std::string energy_note(const Cost& cost) {
  const Reading<double>& kwh = cost.all_gpus.kwh;
  if (!kwh && cost.split) {
    return "The GPUs' energy is absent: they are split by MIG, and the counter is the whole GPU's.";
  }
  if (!kwh) return fmt::format("The GPUs' energy is absent: {}.", why_words(kwh.why_absent()));
  constexpr double kAsGoodAsAll = 0.9;
  std::string text = cost.emulated   ? "The GPUs' energy is modelled, since they are emulated."
                     : cost.by_power ? "The GPUs' energy is their power, added up."
                                     : "The GPUs' energy is by their counters.";
  if (cost.covered_ratio < kAsGoodAsAll) {
    text += fmt::format(" It was read in {} of the time alone.", percent_text(cost.covered_ratio));
  }
  return text +
         " By cause it is divided by time: a GPU that idles takes less, so that idle time took at "
         "most what is said.";
}

std::string price_note(const Cost& cost) {
  if (cost.price) {
    return fmt::format("Price: {} a GPU-hour ({}).", usd_text(cost.price->value),
                       cost.price->source);
  }
  if (cost.total.usd) return "Price: the GPUs are of several kinds, each with its own.";
  return "No price is known for this GPU: --price, --costs or UNSTARVE_PRICE say one.";
}

std::string given_back_note(const cost::GivenBack& back) {
  return fmt::format("{} by {}, {} {}. A month is {:.0f} hours of such training.",
                     back.change.measured ? "Given back" : "This would come back", back.change.id,
                     back.change.measured ? "measured" : "predicted",
                     predict::speedup_words(back.change.speedup), cost::kHoursOfMonth);
}

std::string factors_note(const Cost& cost) {
  return fmt::format("CO2e: {} g a kWh ({}); PUE {} ({}).",
                     number_text(cost.carbon_g_per_kwh.value), cost.carbon_g_per_kwh.source,
                     number_text(cost.pue.value), cost.pue.source);
}

}  // namespace

std::string usd_text(double usd) {
  const char* const sign = usd < 0 ? "-" : "";
  const double amount = std::abs(usd);
  constexpr double kWhole = 100;
  constexpr double kCents = 0.1;
  constexpr double kLeast = 0.0001;
  if (amount >= kWhole) return fmt::format("{}${:.0f}", sign, amount);
  if (amount >= kCents || amount == 0) return fmt::format("{}${:.2f}", sign, amount);
  if (amount < kLeast) return fmt::format("<{}$0.0001", sign);
  return fmt::format("{}${:.2g}", sign, amount);
}

std::string gpu_hours_text(double hours) {
  constexpr double kFewHours = 0.1;
  const double amount = std::abs(hours);
  if (amount >= kFewHours) return number_text(hours) + " GPU-hours";
  if (amount * kMinutesPerHour >= 1) return number_text(hours * kMinutesPerHour) + " GPU-minutes";
  return number_text(hours * kSecondsPerHour) + " GPU-seconds";
}

std::string gpu_time_text(double hours) { return seconds_text(hours * kSecondsPerHour); }

std::string energy_text(double kwh) {
  constexpr double kFew = 0.1;
  const double amount = std::abs(kwh);
  if (amount >= kFew) return number_text(kwh) + " kWh";
  if (amount * 1e3 >= kFew) return number_text(kwh * 1e3) + " Wh";
  return number_text(kwh * 1e3 * kJoulesPerWh) + " J";
}

std::string mass_text(double kg) {
  constexpr double kFew = 0.1;
  const double amount = std::abs(kg);
  if (amount >= 1) return number_text(kg) + " kg";
  if (amount * 1e3 >= kFew) return number_text(kg * 1e3) + " g";
  return number_text(kg * 1e6) + " mg";
}

std::string_view cost_label(const Cost& cost) { return cost.idle_ratio ? "Idle" : "Cost"; }

std::string cost_sentence(const Cost& cost) {
  const bool idle = cost.idle_ratio.has_value();
  const Reading<double>& hours =
      idle ? phase(cost, Phase::kTraining).gpu_hours : cost.total.gpu_hours;
  if (!hours || *hours <= 0) return {};
  std::string text = idle ? fmt::format("{} of {} of training", percent_text(*cost.idle_ratio),
                                        gpu_hours_text(*hours))
                          : gpu_hours_text(*hours);
  if (const auto words = amount_words(idle ? cost.idle : cost.total, idle); !words.empty()) {
    text += ": " + words;
    if (cost.emulated) text += " (modelled)";
  }
  if (const std::string back = given_back_words(cost); !back.empty()) text += "; " + back;
  return text + ".";
}

std::string given_back_sentence(const Cost& cost) {
  if (!cost.given_back) return {};
  const cost::GivenBack& back = *cost.given_back;
  const auto words = [](const Amount& amount) {
    const std::string hours = gpu_hours_text(amount.gpu_hours.value_or(0));
    return amount.usd ? fmt::format("{} and {}", hours, usd_text(*amount.usd)) : hours;
  };
  const std::string month =
      tells_of_a_month(cost) ? "; " + words(back.month) + " in a month of such training" : "";
  return fmt::format("The change {} {} of this run{}{}.",
                     back.change.measured ? "gives back" : "would give back", words(back.run),
                     month, cost.emulated ? " (modelled)" : "");
}

std::vector<CostRow> cost_rows(const Cost& cost) {
  std::vector<CostRow> rows;
  const auto add_if_it_lasted = [&rows](std::string name, const Amount& amount, bool within) {
    if (amount.gpu_hours.value_or(0) > 0) rows.push_back({std::move(name), amount, within});
  };
  add_if_it_lasted("start-up", phase(cost, Phase::kStartUp), false);
  add_if_it_lasted("training", phase(cost, Phase::kTraining), false);
  for (std::size_t i = 0; i < cost.causes.size(); ++i) {
    add_if_it_lasted(std::string(to_string(diagnose::kAllCauses[i])), cost.causes[i], true);
  }
  add_if_it_lasted("after the last step", phase(cost, Phase::kEnding), false);
  if (cost.processors.kwh) rows.push_back({"processors", cost.processors});
  if (rows.empty()) return rows;
  rows.push_back({"in all", cost.total});
  if (cost.idle_ratio) rows.push_back({"idle in training", cost.idle});
  if (cost.given_back) {
    rows.push_back({cost.given_back->change.measured ? "given back" : "would come back",
                    cost.given_back->run});
    rows.push_back({"in a month", cost.given_back->month});
  }
  return rows;
}

std::vector<std::string> cost_notes(const Cost& cost) {
  std::vector<std::string> notes;
  if (cost.gpus > 0) notes = {price_note(cost), energy_note(cost)};
  if (cost.given_back) notes.push_back(given_back_note(*cost.given_back));
  notes.push_back(cost.processors.kwh
                      ? std::string("The processors' energy is the job's share of it, by CPU time.")
                      : fmt::format("The processors' energy (RAPL) is absent: {}.",
                                    why_words(cost.processors.kwh.why_absent())));
  if (cost.total.kwh) notes.push_back(factors_note(cost));
  return notes;
}

}  // namespace unstarve::report
