#include "roofline/roofs/store/roofline_document.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace unstarve::roofline {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "unstarve.roofline/1";
constexpr std::size_t kMostItems = 10'000;

Json json_of(const Condition& condition) {
  return std::visit([](const auto& value) { return Json(value); }, condition);
}

Json json_of(const Machine& machine) {
  Json gpus = Json::array();
  for (const MachineGpu& gpu : machine.gpus) {
    gpus.push_back({{"name", gpu.name}, {"uuid", gpu.uuid}});
  }
  Json quota = machine.quota_cores ? Json(*machine.quota_cores)
                                   : Json{{"absent", to_string(machine.quota_cores.why_absent())}};
  return {{"key", machine_key(machine)},
          {"cpu_model", machine.cpu_model},
          {"cpus", machine.cpus},
          {"cores_allowed", machine.cores_allowed},
          {"cores_bound_by", machine.cores_bound_by},
          {"quota_cores", std::move(quota)},
          {"memory_bytes", machine.memory_bytes},
          {"kernel", machine.kernel},
          {"gpus", std::move(gpus)}};
}

Json json_of(const Roof& roof) {
  Json conditions = Json::object();
  for (const auto& [name, value] : roof.conditions) conditions[name] = json_of(value);
  return {{"name", roof.name},
          {"value", roof.value},
          {"unit", roof.unit},
          {"spread_ratio", roof.spread_ratio},
          {"measured_s", roof.measured_s},
          {"conditions", std::move(conditions)}};
}

/// Reads fields of documents that anybody may have written; nlohmann's errors end in the parser.
template <class T>
T field(const Json& object, const char* name) {
  return object.at(name).get<T>();
}

double finite(const Json& object, const char* name) {
  const auto value = field<double>(object, name);
  if (!std::isfinite(value) || value < 0) {
    throw Json::other_error::create(599, std::string(name) + " is no number", &object);
  }
  return value;
}

const Json& list(const Json& object, const char* name) {
  const Json& items = object.at(name);
  if (!items.is_array() || items.size() > kMostItems) {
    throw Json::other_error::create(599, std::string(name) + " is no list", &object);
  }
  return items;
}

Condition condition_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

Roof roof_of(const Json& object) {
  Roof roof;
  roof.name = field<std::string>(object, "name");
  roof.value = finite(object, "value");
  roof.unit = field<std::string>(object, "unit");
  roof.spread_ratio = finite(object, "spread_ratio");
  roof.measured_s = field<std::int64_t>(object, "measured_s");
  for (const auto& [name, value] : object.at("conditions").items()) {
    roof.conditions.emplace_back(name, condition_of(value));
  }
  return roof;
}

Machine machine_of(const Json& object) {
  Machine machine;
  machine.cpu_model = field<std::string>(object, "cpu_model");
  machine.cpus = field<std::int64_t>(object, "cpus");
  machine.cores_allowed = finite(object, "cores_allowed");
  machine.cores_bound_by = field<std::string>(object, "cores_bound_by");
  const Json& quota = object.at("quota_cores");
  if (quota.is_number()) machine.quota_cores = finite(object, "quota_cores");
  machine.memory_bytes = field<std::uint64_t>(object, "memory_bytes");
  machine.kernel = field<std::string>(object, "kernel");
  for (const Json& gpu : list(object, "gpus")) {
    machine.gpus.push_back({field<std::string>(gpu, "name"), field<std::string>(gpu, "uuid")});
  }
  return machine;
}

RooflineDocument document_of(const Json& object) {
  RooflineDocument document;
  document.machine = machine_of(object.at("machine"));
  document.unstarve_version = field<std::string>(object, "unstarve_version");
  document.modelled = field<bool>(object, "modelled");
  for (const Json& roof : list(object, "roofs")) document.known.roofs.push_back(roof_of(roof));
  for (const Json& absent : list(object, "absent")) {
    document.known.absent.push_back(
        {field<std::string>(absent, "name"), field<std::string>(absent, "reason")});
  }
  for (const Json& note : list(object, "notes")) {
    document.notes.push_back(note.get<std::string>());
  }
  return document;
}

}  // namespace

std::string write_roofline_document(const RooflineDocument& document) {
  Json roofs = Json::array();
  for (const Roof& roof : document.known.roofs) roofs.push_back(json_of(roof));
  Json absent = Json::array();
  for (const AbsentRoof& each : document.known.absent) {
    absent.push_back({{"name", each.name}, {"reason", each.reason}});
  }
  const Json object = {{"schema", kSchema},
                       {"unstarve_version", document.unstarve_version},
                       {"machine", json_of(document.machine)},
                       {"modelled", document.modelled},
                       {"roofs", std::move(roofs)},
                       {"absent", std::move(absent)},
                       {"notes", document.notes},
                       {"position", {{"absent", to_string(WhyAbsent::kNotObserved)}}}};
  // A CPU's or a driver's name may hold any bytes.
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<RooflineDocument> parse_roofline_document(std::string_view text) {
  try {
    const Json object = Json::parse(text.begin(), text.end());
    const auto schema = field<std::string>(object, "schema");
    if (schema != kSchema) {
      return fail(ErrorCode::kCorruptData, "it says '{}' where '{}' is expected",
                  schema.substr(0, 64), kSchema);
    }
    return document_of(object);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorruptData, "{}", error.what());
  }
}

}  // namespace unstarve::roofline
