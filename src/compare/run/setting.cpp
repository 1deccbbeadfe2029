#include "compare/run/setting.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/number_words.h"
#include "job/rank/rank.h"
#include "trace/json/json_text.h"
#include "trace/text/hook_text.h"

namespace unstarve::compare {

namespace {

using Settings = std::vector<Setting>;

constexpr double kGiga = 1e9;
// Between two measurements of one machine that others leave alone.
constexpr double kRoofNoiseRatio = 0.05;

std::string words_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void add_members(SettingGroup group, const nlohmann::json& object, Settings& settings) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.items()) {
    settings.push_back({group, name, words_of(value)});
  }
}

std::string yes_or_no(bool value) { return value ? "True" : "False"; }

void add_loader(const trace::LoaderConfig& config, Settings& settings) {
  const auto add = [&](const char* name, std::string value) {
    settings.push_back({SettingGroup::kLoader, name, std::move(value)});
  };
  const auto add_number = [&](const char* name, const Reading<std::int64_t>& value) {
    if (value) add(name, std::to_string(*value));
  };
  const auto add_flag = [&](const char* name, const Reading<bool>& value) {
    if (value) add(name, yes_or_no(*value));
  };
  add("loader", config.native ? "unstarve's engine" : "worker processes of Python");
  // Of the engine they are threads, which its controller changes.
  if (!config.native) add("num_workers", std::to_string(config.num_workers));
  add_number("batch_size", config.batch_size);
  add_number("prefetch_factor", config.prefetch_factor);
  add_flag("pin_memory", config.pin_memory);
  add_flag("persistent_workers", config.persistent_workers);
  if (!config.data.class_name.empty()) add("dataset", config.data.class_name);
  if (!config.data.transforms.empty()) {
    add("transforms", fmt::format("{}", fmt::join(config.data.transforms, ", ")));
  }
}

void add_versions(const trace::RunReader& run, Settings& settings) {
  settings.push_back({SettingGroup::kVersions, "unstarve", run.info("unstarve_version")});
  const auto processes = run.processes();
  if (!processes) return;
  const nlohmann::json text = trace::parse_json(trace::text_of_training(*processes));
  if (!text.is_object()) return;
  for (const char* const name : {"python", "torch"}) {
    if (text.contains(name)) {
      settings.push_back({SettingGroup::kVersions, name, words_of(text[name])});
    }
  }
  if (text.contains("packages")) add_members(SettingGroup::kVersions, text["packages"], settings);
}

std::string roof_text(double value, const std::string& unit) {
  if (unit == "bytes/s") return bytes_text(value) + "/s";
  if (unit == "flop/s") return number_text(value / kGiga) + " GFLOP/s";
  return number_text(value) + " " + unit;
}

void add_roofs(const nlohmann::json& roofs, Settings& settings) {
  if (!roofs.is_object()) return;
  for (const auto& [name, roof] : roofs.items()) {
    if (!roof.is_object() || !roof.contains("value") || !roof["value"].is_number()) continue;
    const double value = roof["value"].get<double>();
    if (!(value > 0)) continue;
    const std::string unit = roof.contains("unit") ? words_of(roof["unit"]) : std::string();
    settings.push_back({SettingGroup::kRoofs, name, roof_text(value, unit), value});
  }
}

std::string command_text(const std::string& json) {
  const nlohmann::json words = trace::parse_json(json);
  if (!words.is_array()) return {};
  std::vector<std::string> texts;
  for (const nlohmann::json& word : words) texts.push_back(words_of(word));
  return fmt::format("{}", fmt::join(texts, " "));
}

ScriptText script_text(const std::string& json) {
  const nlohmann::json kept = trace::parse_json(json);
  if (!kept.is_object()) return {};
  return {kept.value("path", std::string()), kept.value("text", std::string())};
}

const Setting* find(const RunSettings& run, const Setting& wanted) {
  const auto found =
      std::find_if(run.settings.begin(), run.settings.end(), [&](const Setting& setting) {
        return setting.group == wanted.group && setting.name == wanted.name;
      });
  return found == run.settings.end() ? nullptr : &*found;
}

/// What one run lacks where all that is set is kept is not set; else it is not known.
bool knows_all(const RunSettings& run, SettingGroup group) {
  return std::find(run.whole_groups.begin(), run.whole_groups.end(), group) !=
         run.whole_groups.end();
}

void add_difference(const Setting& of, const RunSettings& a, const RunSettings& b,
                    std::vector<Difference>& found) {
  const Setting* const in_a = find(a, of);
  const Setting* const in_b = find(b, of);
  if (in_a == nullptr && !knows_all(a, of.group)) return;
  if (in_b == nullptr && !knows_all(b, of.group)) return;
  Difference difference = {of.group, of.name, in_a != nullptr ? in_a->value : std::string(),
                           in_b != nullptr ? in_b->value : std::string()};
  if (in_a != nullptr && in_b != nullptr && in_a->amount > 0 && in_b->amount > 0 &&
      std::abs(in_b->amount / in_a->amount - 1) < kRoofNoiseRatio) {
    return;
  }
  if (difference.a != difference.b) found.push_back(std::move(difference));
}

}  // namespace

RunSettings settings_of(const examine::Examination& examined, const trace::RunReader* run) {
  RunSettings known;
  const auto add = [&](SettingGroup group, const char* name, const std::string& value) {
    if (!value.empty()) known.settings.push_back({group, name, value});
  };
  if (run != nullptr) {
    add(SettingGroup::kCommand, "command", command_text(run->info("command")));
    known.script = script_text(run->info("script"));
  }
  const job::LoaderUse* const loader = examined.recording->partitioned.rank().training_loader();
  if (loader != nullptr && loader->config) add_loader(*loader->config, known.settings);
  if (run == nullptr) return known;
  add_versions(*run, known.settings);
  const nlohmann::json environment = trace::parse_json(run->info("environment"));
  add_members(SettingGroup::kEnvironment, environment, known.settings);
  if (environment.is_object()) known.whole_groups.push_back(SettingGroup::kEnvironment);
  add(SettingGroup::kMachine, "host", run->info("host"));
  add(SettingGroup::kMachine, "gpu", run->info("device_name"));
  add_members(SettingGroup::kMachine, trace::parse_json(run->info("machine")), known.settings);
  add_roofs(trace::parse_json(run->info("roofs")), known.settings);
  return known;
}

std::vector<Difference> differences(const RunSettings& a, const RunSettings& b) {
  std::vector<Difference> found;
  for (const Setting& setting : a.settings) add_difference(setting, a, b, found);
  for (const Setting& setting : b.settings) {
    if (find(a, setting) == nullptr) add_difference(setting, a, b, found);
  }
  std::stable_sort(found.begin(), found.end(), [](const Difference& one, const Difference& other) {
    return one.group < other.group;
  });
  return found;
}

std::string_view to_string(SettingGroup group) {
  switch (group) {
    case SettingGroup::kCommand: return "command";
    case SettingGroup::kLoader: return "loader";
    case SettingGroup::kVersions: return "versions";
    case SettingGroup::kEnvironment: return "environment";
    case SettingGroup::kMachine: return "machine";
    case SettingGroup::kRoofs: return "roofs";
  }
  return "";
}

}  // namespace unstarve::compare
