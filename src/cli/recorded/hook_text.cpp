#include "cli/recorded/hook_text.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace unstarve::cli {

namespace {

/// The text of the process that trains, as JSON; null where there is none.
nlohmann::json text_of_training(const trace::RunReader& run) {
  nlohmann::json best;
  const auto processes = run.processes();
  if (!processes) return best;
  for (const trace::ProcessRecord& process : *processes) {
    nlohmann::json text = nlohmann::json::parse(process.text, nullptr, false);
    if (!text.is_object()) continue;
    // A job may have several Python processes; the one with a loader is the training process.
    if (best.is_null() || text.contains("loader_place")) best = std::move(text);
  }
  return best;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The bytes that `digits` spell, two digits each; those behind the first damage are left out.
std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned char byte = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) break;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

/// A path that is no UTF-8 is only shown by `root`; its bytes are beside it.
std::string root_of(const nlohmann::json& dataset) {
  const std::string bytes = bytes_of(text_at(dataset, "root_hex"));
  return bytes.empty() ? text_at(dataset, "root") : bytes;
}

/// Why the hook left a loader as it was, for the first that it did.
std::string first_reason(const nlohmann::json& text) {
  if (!text.contains("fix_refused")) return {};
  const nlohmann::json& refused = text["fix_refused"];
  return refused.is_array() && !refused.empty() ? text_at(refused.front(), "reason") : "";
}

}  // namespace

HookText read_hook_text(const trace::RunReader& run) {
  HookText words;
  const nlohmann::json text = text_of_training(run);
  if (!text.is_object()) return words;
  if (const auto dataset = text.find("dataset"); dataset != text.end()) {
    words.dataset_class = text_at(*dataset, "class");
    words.dataset_root = root_of(*dataset);
  }
  if (const auto left_out = text.find("left_out"); left_out != text.end()) {
    words.dataset_left_out =
        std::find(left_out->begin(), left_out->end(), "dataset") != left_out->end();
  }
  words.loader_place = text_at(text, "loader_place");
  words.fix_applied = text.contains("fix_applied");
  words.fix_refused = first_reason(text);
  return words;
}

}  // namespace unstarve::cli
