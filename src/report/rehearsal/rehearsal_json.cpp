#include "report/rehearsal/rehearsal_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/words/json_text.h"

namespace unstarve::report {

namespace {

using Json = nlohmann::ordered_json;

Json figure(double value) {
  return std::isfinite(value) ? Json(value) : Json{{"absent", "not_observed"}};
}

Json figure(const Reading<double>& reading) {
  return reading ? figure(*reading)
                 : Json{{"absent", std::string(to_string(reading.why_absent()))}};
}

Json interval(const predict::Interval90& estimate) {
  return Json{{"value", figure(estimate.value)},
              {"low", figure(estimate.low)},
              {"high", figure(estimate.high)}};
}

Json run_json(const rehearse::RehearsedRunFacts& run) {
  return Json{{"folder", run.run_dir},
              {"steps", run.steps},
              {"cores", figure(run.cores)},
              {"cores_of_others", figure(run.cores_of_others)},
              {"workers", run.workers},
              {"samples_per_step", figure(run.samples)},
              {"step_s", figure(run.step_s)},
              {"au", figure(run.measured_au)},
              {"fetch_cpu_s", figure(run.fetch_cpu_s)},
              {"host_cpu_s", figure(run.host_cpu_s)},
              {"read_bytes_per_sample", figure(run.read_bytes_per_sample)},
              {"gradient_bytes", figure(run.gradient_bytes)},
              {"misfit_ratio", figure(run.misfit_ratio)}};
}

Json kind_json(const rehearse::RehearsedKind& kind) {
  return Json{{"name", kind.name},
              {"device_name", kind.device_name},
              {"durations_by", std::string(to_string(kind.by))},
              {"device_s", figure(kind.device_s)},
              {"memory_needed_ratio", figure(kind.memory_needed_ratio)}};
}

Json cell_json(const rehearse::RehearsedCell& cell, const rehearse::Rehearsal& all) {
  Json remedies = Json::array();
  for (const rehearse::RehearsedRemedy& remedy : cell.remedies) {
    remedies.push_back({{"id", remedy.id}, {"how", remedy.how}, {"au", interval(remedy.au)}});
  }
  Json json = {{"kind", all.kinds[cell.kind].name},
               {"gpus", cell.gpus},
               {"au", interval(cell.forecast.au)},
               {"step_s", interval(cell.forecast.step_s)},
               {"step_without_waiting_s", figure(cell.forecast.step_without_waiting_s)}};
  json["cores_needed"] =
      cell.cores_needed ? interval(*cell.cores_needed) : Json{{"absent", "not_supported"}};
  json["au_on_cores"] = Json::array();
  for (const rehearse::AuOnCores& point : cell.au_on_cores) {
    json["au_on_cores"].push_back({{"cores", figure(point.cores)}, {"au", figure(point.au)}});
  }
  json["workers_needed"] = cell.workers_needed;
  json["storage_bytes_per_s_needed"] = figure(cell.storage_bytes_per_s_needed);
  json["remedies"] = remedies;
  return json;
}

}  // namespace

std::string rehearsal_json(const rehearse::Rehearsal& rehearsal) {
  Json json = {{"schema", "unstarve.rehearsal/1"},
               {"emulated", true},
               {"target_au", figure(rehearsal.target_au)},
               {"cores", figure(rehearsal.cores)},
               {"run", run_json(rehearsal.run)},
               {"kinds", Json::array()},
               {"cells", Json::array()},
               {"notes", rehearsal.notes}};
  for (const rehearse::RehearsedKind& kind : rehearsal.kinds)
    json["kinds"].push_back(kind_json(kind));
  for (const rehearse::RehearsedCell& cell : rehearsal.cells) {
    json["cells"].push_back(cell_json(cell, rehearsal));
  }
  return json_text(json);
}

}  // namespace unstarve::report
