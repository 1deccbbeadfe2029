#include "tune/trials/trial_result.h"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

namespace unstarve::tune {

namespace {

using Json = nlohmann::json;

struct ShareField {
  const char* name;
  double StepShares::*share;
};
constexpr std::array<ShareField, 10> kShares = {{
    {"compute", &StepShares::compute},
    {"launches", &StepShares::launches},
    {"memory", &StepShares::memory},
    {"copies", &StepShares::copies},
    {"float_products", &StepShares::float_products},
    {"optimizer", &StepShares::optimizer},
    {"zeroing", &StepShares::zeroing},
    {"system", &StepShares::system},
    {"products", &StepShares::products},
    {"loading", &StepShares::loading},
}};

constexpr std::array<std::string_view, 10> kEndings = {
    "measured",       "out_of_memory", "killed",      "timeout",       "not_finite",
    "compile_failed", "recompiled",    "not_applied", "too_few_steps", "crashed",
};

/// JSON has no NaN: null stands for it.
Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(std::isfinite(value) ? Json(value) : Json());
  return list;
}

double number_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::int64_t integer_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::vector<double> numbers_at(const Json& json, const char* key) {
  std::vector<double> values;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return values;
  for (const Json& element : *found) {
    values.push_back(element.is_number() ? element.get<double>()
                                         : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

Json constructed_json(const std::map<std::string, Constructed>& constructed) {
  Json json = Json::object();
  for (const auto& [option, entry] : constructed) {
    json[option] = {{"value", entry.value}, {"why_not", entry.why_not}, {"place", entry.place}};
  }
  return json;
}

}  // namespace

std::string_view to_string(Ending ending) { return kEndings[static_cast<std::size_t>(ending)]; }

StepShares mean_of(const std::vector<StepShares>& several) {
  StepShares mean;
  double count = 0;
  for (const StepShares& shares : several) {
    if (!shares.known()) continue;
    ++count;
    for (const ShareField& field : kShares) mean.*field.share += shares.*field.share;
  }
  if (count == 0) return {};
  for (const ShareField& field : kShares) mean.*field.share /= count;
  return mean;
}

Json to_json(const StepShares& shares) {
  Json json = Json::object();
  for (const ShareField& field : kShares) json[field.name] = shares.*field.share;
  return json;
}

StepShares shares_from(const Json& json) {
  StepShares shares;
  if (!json.is_object()) return shares;
  for (const ShareField& field : kShares) {
    const double share = number_at(json, field.name);
    if (share > 0 && share <= 1) shares.*field.share = share;
  }
  return shares;
}

double timed_steps(const TrialResult& result) {
  if (result.steps_of_each.size() != result.steps_s.size()) {
    return static_cast<double>(result.steps_s.size());
  }
  return std::accumulate(result.steps_of_each.begin(), result.steps_of_each.end(), 0.0);
}

Json to_json(const TrialResult& result) {
  return {{"ending", to_string(result.ending)},
          {"why", result.why},
          {"steps_s", numbers(result.steps_s)},
          {"steps_of_each", numbers(result.steps_of_each)},
          {"mean_step_s", result.mean_step_s},
          {"samples_per_step", result.samples_per_step},
          {"samples_are_rows", result.samples_are_rows},
          {"stream_workers", result.stream_workers},
          {"full_step_samples", result.full_step_samples},
          {"steps_of_pass", result.steps_of_pass},
          {"input_numbers", result.input_numbers},
          {"shares", to_json(result.shares)},
          {"latency",
           {{"calls", result.latency.calls},
            {"median_s", result.latency.median_s},
            {"p95_s", result.latency.p95_s}}},
          {"cold_s", result.cold_s},
          {"wall_s", result.wall_s},
          {"given_up", result.given_up},
          {"backwards_per_step", result.backwards_per_step},
          {"skipped_ratio", result.skipped_ratio},
          {"peak_memory_bytes", result.peak_memory_bytes},
          {"used_memory_bytes", result.used_memory_bytes},
          {"total_memory_bytes", result.total_memory_bytes},
          {"allocator_retries", result.allocator_retries},
          {"losses", numbers(result.losses)},
          {"gradient_norms", numbers(result.gradient_norms)},
          {"gradient_sketch", numbers(result.gradient_sketch)},
          {"rows", result.rows},
          {"numbers", result.numbers},
          {"calls", result.calls},
          {"tensors", to_json(result.tensors)},
          {"generators", result.generators},
          {"device", result.device},
          {"optimizer", result.optimizer},
          {"trainer", result.trainer},
          {"threads", result.threads},
          {"interop_threads", result.interop_threads},
          {"surveyed", result.surveyed},
          {"loads", result.loads},
          {"why_not", result.why_not},
          {"constructed", constructed_json(result.constructed)}};
}

Result<TrialResult> result_from(const Json& json) {
  const std::string ending = json.is_object() ? text_at(json, "ending") : std::string();
  TrialResult result;
  bool known = false;
  for (std::size_t i = 0; i < kEndings.size(); ++i) {
    if (kEndings[i] != ending) continue;
    result.ending = static_cast<Ending>(i);
    known = true;
  }
  if (!known) return fail(ErrorCode::kCorruptData, "it is no result of a trial");
  result.why = text_at(json, "why");
  result.steps_s = numbers_at(json, "steps_s");
  result.steps_of_each = numbers_at(json, "steps_of_each");
  for (const double steps : result.steps_of_each) {
    if (!(steps >= 1)) return fail(ErrorCode::kCorruptData, "a mean of its steps is of none");
  }
  result.mean_step_s = number_at(json, "mean_step_s");
  if (result.ending == Ending::kMeasured) {
    const bool timed = !result.steps_s.empty();
    for (const double step : result.steps_s) {
      if (!(step > 0)) return fail(ErrorCode::kCorruptData, "a step of it took no time");
    }
    if (timed && !(result.mean_step_s > 0)) {
      return fail(ErrorCode::kCorruptData, "its mean step took no time");
    }
  }
  result.samples_per_step = number_at(json, "samples_per_step");
  result.samples_are_rows = flag_at(json, "samples_are_rows");
  result.stream_workers = integer_at(json, "stream_workers");
  result.full_step_samples = number_at(json, "full_step_samples");
  result.steps_of_pass = number_at(json, "steps_of_pass");
  result.input_numbers = number_at(json, "input_numbers");
  if (const auto shares = json.find("shares"); shares != json.end()) {
    result.shares = shares_from(*shares);
  }
  if (const auto latency = json.find("latency"); latency != json.end() && latency->is_object()) {
    result.latency = {integer_at(*latency, "calls"), number_at(*latency, "median_s"),
                      number_at(*latency, "p95_s")};
  }
  result.cold_s = number_at(json, "cold_s");
  result.wall_s = number_at(json, "wall_s");
  result.given_up = flag_at(json, "given_up");
  result.backwards_per_step = number_at(json, "backwards_per_step");
  result.skipped_ratio = number_at(json, "skipped_ratio");
  result.peak_memory_bytes = integer_at(json, "peak_memory_bytes");
  result.used_memory_bytes = integer_at(json, "used_memory_bytes");
  result.total_memory_bytes = integer_at(json, "total_memory_bytes");
  result.allocator_retries = integer_at(json, "allocator_retries");
  result.losses = numbers_at(json, "losses");
  result.gradient_norms = numbers_at(json, "gradient_norms");
  result.gradient_sketch = numbers_at(json, "gradient_sketch");
  result.rows = integers_from(json.value("rows", Json()));
  result.numbers = integers_from(json.value("numbers", Json()));
  result.calls = integers_from(json.value("calls", Json()));
  result.tensors = tensors_from(json.value("tensors", Json()));
  result.generators = generators_from(json.value("generators", Json()));
  result.device = text_at(json, "device");
  result.optimizer = text_at(json, "optimizer");
  result.trainer = text_at(json, "trainer");
  result.threads = integer_at(json, "threads");
  result.interop_threads = integer_at(json, "interop_threads");
  result.surveyed = flag_at(json, "surveyed");
  result.loads = json.value("loads", Json()) != Json(false);
  if (const auto why = json.find("why_not"); why != json.end() && why->is_object()) {
    for (const auto& [lever, reason] : why->items()) {
      if (reason.is_string()) result.why_not[lever] = reason.get<std::string>();
    }
  }
  result.constructed = constructed_from(json.value("constructed", Json()));
  return result;
}

std::vector<std::int64_t> integers_from(const Json& list) {
  std::vector<std::int64_t> values;
  if (!list.is_array()) return values;
  for (const Json& element : list) {
    if (element.is_number_integer()) values.push_back(element.get<std::int64_t>());
  }
  return values;
}

std::map<std::string, std::int64_t> generators_from(const Json& json) {
  std::map<std::string, std::int64_t> generators;
  if (!json.is_object()) return generators;
  for (const auto& [name, state] : json.items()) {
    if (state.is_number_integer()) generators[name] = state.get<std::int64_t>();
  }
  return generators;
}

std::map<std::string, Constructed> constructed_from(const Json& json) {
  std::map<std::string, Constructed> constructed;
  if (!json.is_object()) return constructed;
  for (const auto& [option, entry] : json.items()) {
    if (!entry.is_object()) continue;
    Constructed& found = constructed[option];
    found = {integer_at(entry, "value"), text_at(entry, "why_not"), text_at(entry, "place")};
    const auto value = entry.find("value");
    const bool known = value != entry.end() && value->is_number_integer() && found.value >= 0;
    if (!known && found.why_not.empty()) found.why_not = "it got no whole number";
  }
  return constructed;
}

}  // namespace unstarve::tune
