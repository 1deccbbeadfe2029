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
    {"diff", &ListedTrial::diff},
};

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
    const bool named = !trial.remedy.empty() && !trial.base.empty() && !trial.opening.empty();
    const bool inside = is_plain_name(trial.remedy) && is_plain_name(trial.base) &&
                        is_plain_name(trial.opening) && is_plain_name(trial.again);
    if (named && inside) trials.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace unstarve::examine
