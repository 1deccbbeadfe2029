#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cost/cost.h"

namespace unstarve::report {

/// The object `cost` of docs/formats/diagnosis.md.
nlohmann::ordered_json cost_json(const cost::Cost& cost);

/// `gpu_hours`, `usd`, `kwh`, `co2_kg`; what is not known is absent with its reason.
nlohmann::ordered_json amount_json(const cost::Amount& amount);

/// `value` and `source`.
nlohmann::ordered_json rate_json(const cost::Rate& rate);

}  // namespace unstarve::report
