#include "script/edited_script.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/shell_word.h"
#include "launch/job_python.h"
#include "script/scripts.h"

namespace unstarve::script {

namespace {

namespace fs = std::filesystem;
// New arguments stand in the order in which they are asked for.
using Json = nlohmann::ordered_json;

Json request_of(const CallEdit& call) {
  Json request = {{"class_name", call.class_name},
                  {"line", call.line},
                  {"drop_in", call.drop_in},
                  {"cached", call.cached}};
  request["arguments"] = Json::object();
  for (const auto& [name, text] : call.arguments) request["arguments"][name] = text;
  if (!call.was) return request;
  request["was"] = Json::object();
  for (const auto& [name, number] : *call.was) request["was"][name] = number;
  return request;
}

Json request_of(const std::vector<ScriptEdit>& edits) {
  Json requests = Json::array();
  for (const ScriptEdit& edit : edits) {
    Json calls = Json::array();
    for (const CallEdit& call : edit.calls) calls.push_back(request_of(call));
    requests.push_back({{"lines", edit.lines},
                        {"unless", edit.unless},
                        {"optimizer", edit.optimizer},
                        {"calls", calls}});
  }
  return requests;
}

/// What the script of ours prints of these edits; an object without members where it cannot run.
Json reply_to(const std::string& python, const Json& request) {
  // A path may hold bytes that are no UTF-8: such a file is not found.
  const std::string text = request.dump(-1, ' ', true, Json::error_handler_t::replace);
  const std::string output =
      launch::output_of(shell_word(python) + " -I -S -c " +
                        shell_word(std::string(edit_script_script())) + " " + shell_word(text));
  Json reply = Json::parse(output, nullptr, false);
  return reply.is_object() ? reply : Json::object();
}

bool is_below(const fs::path& relative) { return !relative.empty() && *relative.begin() != ".."; }

}  // namespace

EditedScript edit_script(const std::string& python, const std::string& path,
                         const std::vector<ScriptEdit>& edits) {
  EditedScript edited;
  const auto refuse_all = [&edited, &edits](const std::string& why) {
    edited.refused.assign(edits.size(), why);
    return edited;
  };
  if (edits.empty()) return edited;
  std::error_code unknown;
  const fs::path whole = fs::absolute(path, unknown).lexically_normal();
  if (unknown || !fs::is_regular_file(whole, unknown)) return refuse_all(path + " is no file");
  if (python.empty()) return refuse_all("there is no Python that could read the script");
  edited.path = whole.string();
  const fs::path here = fs::current_path(unknown);
  const fs::path below = whole.lexically_relative(here);
  edited.from_root = unknown || !is_below(below);
  const fs::path name = edited.from_root ? whole.relative_path() : below;
  const Json reply = reply_to(
      python, {{"path", edited.path}, {"name", name.string()}, {"edits", request_of(edits)}});
  const Json refused = reply.value("refused", Json());
  if (!refused.is_array() || refused.size() != edits.size()) {
    return refuse_all(python + " could not read the script");
  }
  for (const Json& why : refused) {
    edited.refused.push_back(why.is_string() ? why.get<std::string>() : std::string());
  }
  edited.text = reply.value("text", std::string());
  edited.diff = reply.value("diff", std::string());
  return edited;
}

std::optional<Place> read_place(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  Place place = {text.substr(0, colon), 0};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, place.line);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return place;
}

}  // namespace unstarve::script
