#include "report/roofline/position_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/units.h"

namespace unstarve::report {

namespace {

using Json = nlohmann::ordered_json;

Json absent(const std::string& why) {
  return {{"absent", std::string(to_string(WhyAbsent::kNotObserved))}, {"reason", why}};
}

Json roof_number(const Reading<double>& reading) {
  if (reading && std::isfinite(*reading)) return *reading;
  return {{"absent", std::string(to_string(WhyAbsent::kNotObserved))}};
}

Json roof_json(const roofline::UsedRoof& roof) {
  return {{"name", roof.name},
          {"value", roof.value},
          {"unit", roof.unit},
          {"source", std::string(to_string(roof.source))}};
}

Json term_json(const roofline::Term& term) {
  Json json = {{"name", term.name}};
  if (!term.why_absent.empty()) {
    json.update(absent(term.why_absent));
    return json;
  }
  json["amount"] = term.amount;
  json["unit"] = term.unit;
  json["least_us"] = kMicrosecondsPerSecond * term.least_s;
  json["share"] = term.share;
  json["roof"] = roof_json(term.roof);
  return json;
}

Json flops_json(const roofline::Position& position) {
  const trace::FlopText& flops = position.flops;
  if (flops.by_dtype.empty()) return absent(position.terms.front().why_absent);
  return {{"by_dtype", flops.by_dtype},
          {"at_least", position.flops_at_least},
          {"step", flops.step},
          {"samples", flops.samples ? Json(*flops.samples) : roof_number(WhyAbsent::kNotObserved)},
          {"operand_bytes", roof_number(flops.operand_bytes)},
          {"not_counted", flops.not_counted}};
}

Json utilization_json(const roofline::Utilization& utilization) {
  if (!utilization.why_absent.empty()) return absent(utilization.why_absent);
  return utilization.ratio;
}

}  // namespace

Json position_json(const roofline::Position& position) {
  Json terms = Json::array();
  for (const roofline::Term& term : position.terms) terms.push_back(term_json(term));
  const std::string none = "every term is absent";
  const roofline::Device& device = position.device;
  const char* const kind = device.is_cpu ? "cpu" : "gpu";
  return {{"device", kind},
          {kind, device.name},
          {"modelled", device.modelled},
          {"step_us", kMicrosecondsPerSecond * position.step_s},
          {"bound", position.bound ? Json(position.terms[*position.bound].name) : absent(none)},
          {"terms", std::move(terms)},
          {"flops", flops_json(position)},
          {"flop_per_s", roof_number(position.flop_per_s)},
          {"flop_per_byte", roof_number(position.flop_per_byte)},
          {"mfu",
           {{"specification", utilization_json(position.of_specification)},
            {"measured", utilization_json(position.of_measured)}}},
          {"notes", position.notes}};
}

}  // namespace unstarve::report
