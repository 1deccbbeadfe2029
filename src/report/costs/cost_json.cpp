#include "report/costs/cost_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace unstarve::report {

namespace {

using Json = nlohmann::ordered_json;

Json quantity_json(const Reading<double>& value) {
  if (!value) return {{"absent", std::string(to_string(value.why_absent()))}};
  return std::isfinite(*value) ? Json(*value) : Json{{"absent", "not_observed"}};
}

Json given_back_json(const cost::GivenBack& back) {
  return {{"change", back.change.id},
          {"measured", back.change.measured},
          {"speedup",
           {{"speedup", quantity_json(back.change.speedup.speedup)},
            {"low", quantity_json(back.change.speedup.low)},
            {"high", quantity_json(back.change.speedup.high)}}},
          {"run", amount_json(back.run)},
          {"month", amount_json(back.month)}};
}

/// How the GPUs' energy was had.
const char* energy_by(const cost::Cost& cost) {
  if (cost.emulated) return "modelled";
  return cost.by_power ? "power" : "counter";
}

}  // namespace

Json amount_json(const cost::Amount& amount) {
  return {{"gpu_hours", quantity_json(amount.gpu_hours)},
          {"usd", quantity_json(amount.usd)},
          {"kwh", quantity_json(amount.kwh)},
          {"co2_kg", quantity_json(amount.co2_kg)}};
}

Json rate_json(const cost::Rate& rate) {
  return {{"value", quantity_json(rate.value)}, {"source", rate.source}};
}

Json cost_json(const cost::Cost& cost) {
  Json json = {{"gpus", cost.gpus}, {"total", amount_json(cost.total)}};
  if (cost.gpus > 0) {
    json["gpu"] = amount_json(cost.all_gpus);
    json["gpu"]["energy_by"] =
        cost.all_gpus.kwh ? Json(energy_by(cost)) : quantity_json(cost.all_gpus.kwh);
    json["gpu"]["covered_ratio"] = quantity_json(cost.covered_ratio);
  }
  json["cpu"] = {{"kwh", quantity_json(cost.processors.kwh)},
                 {"co2_kg", quantity_json(cost.processors.co2_kg)}};
  if (cost.gpus > 0) {
    json["start_up"] = amount_json(cost.phases[0]);
    json["training"] = amount_json(cost.phases[1]);
    json["ending"] = amount_json(cost.phases[2]);
    json["idle"] = amount_json(cost.idle);
    json["idle"]["ratio"] = quantity_json(cost.idle_ratio);
    json["by_cause"] = Json::object();
    for (std::size_t i = 0; i < cost.causes.size(); ++i) {
      json["by_cause"][std::string(to_string(diagnose::kAllCauses[i]))] =
          amount_json(cost.causes[i]);
    }
  }
  if (cost.given_back) json["given_back"] = given_back_json(*cost.given_back);
  json["rates"] = Json::object();
  if (cost.price) json["rates"]["usd_per_gpu_hour"] = rate_json(*cost.price);
  json["rates"]["carbon_g_per_kwh"] = rate_json(cost.carbon_g_per_kwh);
  json["rates"]["pue"] = rate_json(cost.pue);
  return json;
}

}  // namespace unstarve::report
