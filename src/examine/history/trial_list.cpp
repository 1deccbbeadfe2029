#include "examine/history/trial_list.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/io/write.h"
#include "trace/json/json_text.h"

namespace unstarve::examine {

namespace {

using Json = nlohmann::json;

constexpr const char* kFile = "/trials.json";

struct Field {
  const char* key;
  std::string ListedTrial::*text;
};

constexpr Field kFields[] = {
    {"remedy", &ListedTrial::remedy}, {"how", &ListedTrial::how},
    {"base", &ListedTrial::base},     {"opening", &ListedTrial::opening},
    {"again", &ListedTrial::again},   {"permanent", &ListedTrial::permanent},
    {"diff", &ListedTrial::diff},     {"outcome", &ListedTrial::outcome},
    {"run", &ListedTrial::run},
};

/// None where the entry has none, or something else.
std::optional<predict::Speedup> measured_of(const Json& entry) {
  const auto found = entry.find("measured");
  if (found == entry.end() || !found->is_object()) return std::nullopt;
  const auto figure = [&found](const char* name) {
    const auto value = found->find(name);
    return value != found->end() && value->is_number() ? value->get<double>() : 0.0;
  };
  const predict::Speedup speed = {figure("speedup"), figure("low"), figure("high")};
  return speed.low > 0 && speed.low <= speed.speedup && speed.speedup <= speed.high
             ? std::optional(speed)
             : std::nullopt;
}

/// A name of a run in the folder, and no path to elsewhere.
bool is_plain_name(const std::string& name) {
  return name.find('/') == std::string::npos && name != "..";
}

}  // namespace

Status write_trial_list(const std::string& folder, const std::vector<ListedTrial>& trials) {
  Json list = Json::array();
  for (const ListedTrial& trial : trials) {
    Json entry;
    for (const Field& field : kFields) entry[field.key] = trial.*field.text;
    if (trial.measured) {
      entry["measured"] = {{"speedup", trial.measured->speedup},
                           {"low", trial.measured->low},
                           {"high", trial.measured->high}};
    }
    list.push_back(std::move(entry));
  }
  return io::replace_file(folder + kFile,
                          list.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<ListedTrial> read_trial_list(const std::string& folder) {
  std::ifstream file(folder + kFile);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  const Json list = trace::parse_json(written);
  std::vector<ListedTrial> trials;
  if (!list.is_array()) return trials;
  for (const Json& entry : list) {
    ListedTrial trial;
    for (const Field& field : kFields) {
      if (!entry.is_object() || !entry.contains(field.key)) continue;
      if (const Json& text = entry[field.key]; text.is_string()) trial.*field.text = text;
    }
    if (entry.is_object()) trial.measured = measured_of(entry);
    const bool named = !trial.remedy.empty() && !trial.base.empty() && !trial.opening.empty();
    const bool inside = is_plain_name(trial.remedy) && is_plain_name(trial.base) &&
                        is_plain_name(trial.opening) && is_plain_name(trial.again) &&
                        is_plain_name(trial.run);
    if (named && inside) trials.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace unstarve::examine
