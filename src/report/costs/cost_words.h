#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cost/cost.h"

namespace unstarve::report {

/// "$440", "$4.10", "$0.0055"; a minus sign comes first.
std::string usd_text(double usd);
/// "0.42 GPU-hours"; below a tenth "3.1 GPU-minutes", below a minute "12.2 GPU-seconds".
std::string gpu_hours_text(double hours);
/// The same in a column of GPU time: "12.2 s", "25 min 12 s", "603 h"
std::string gpu_time_text(double hours);
/// "0.83 kWh", "12.4 Wh", "310 J"
std::string energy_text(double kwh);
/// "1.20 kg", "38 g", "1.4 mg"
std::string mass_text(double kg);

/// "Idle: 83 % of 0.42 GPU-hours of training, $0.91, ..." and what the change gives back, without
/// the first word, which is cost_label(). Empty where no GPU is used, or nothing is known of time.
std::string cost_sentence(const cost::Cost& cost);
/// "The change gives back 8.1 GPU-seconds and $0.0055 of this run; 600 GPU-hours and $1200 in a
/// month of such training (modelled).": hours, and money where the price is known. Empty where no
/// change is named.
std::string given_back_sentence(const cost::Cost& cost);
/// "Idle", or "Cost" where it is not known how much of the time is.
std::string_view cost_label(const cost::Cost& cost);

/// One row of the table: start-up, training, its causes, ...
struct CostRow {
  std::string name;
  cost::Amount amount;
  bool within = false;  // a part of the row above it that is not
};
std::vector<CostRow> cost_rows(const cost::Cost& cost);

/// Where prices and factors are from, how energy was had, what is absent and why: sentences.
std::vector<std::string> cost_notes(const cost::Cost& cost);

}  // namespace unstarve::report
