#include "tune/patch/script_patch.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tune/patch/command_script.h"

namespace unstarve::tune {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSourceBytes = 4U << 20U;

/// What `patch` reads as a name. One with a space ends at a tab.
std::string name_in_diff(const std::string& name) {
  const bool plain = std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\';
  });
  if (!plain) return {};
  return name.find(' ') == std::string::npos ? name : name + "\t";
}

/// None where the calls cannot take them all.
trial::Replacements all_edits(const Script& script, const std::vector<LeverEdit>& edits) {
  trial::Replacements replacements;
  std::map<std::size_t, CallEdit> calls;  // by where they begin
  const auto import = find_import_of_torch(script.source);
  for (const LeverEdit& edit : edits) {
    for (const std::string& line : edit.lines) {
      trial::append_line(script.source, *import, line, replacements);
    }
    for (const CallEdit& call_edit : edit.calls) {
      CallEdit& call = calls
                           .try_emplace(call_edit.call.open,
                                        CallEdit{call_edit.call, call_edit.most_by_place, {}})
                           .first->second;
      call.values.insert(call.values.end(), call_edit.values.begin(), call_edit.values.end());
      call.given.insert(call_edit.given.begin(), call_edit.given.end());
    }
  }
  for (const auto& [open, call] : calls) {
    replacements.insert(call.given.begin(), call.given.end());
    if (!trial::set_arguments(script.source, call.call, call.values, call.most_by_place,
                              replacements)) {
      return {};
    }
  }
  return replacements;
}

}  // namespace

ScriptPatch patch_of(const Script& script, const std::string& name, const TuneResult& result) {
  ScriptPatch patch;
  std::vector<LeverEdit> edits;
  const std::string written = name_in_diff(name);
  for (const LeverResult& entry : result.levers) {
    if (!entry.is_kept()) continue;
    const auto edit =
        written.empty() ? std::nullopt : edit_for(entry.lever, script, result.baseline);
    if (edit) {
      edits.push_back(*edit);
    } else {
      patch.left.push_back(entry.lever.id);
    }
  }
  const trial::Replacements replacements = all_edits(script, edits);
  patch.path = script.path;
  patch.text = trial::with_replacements(script.source, replacements);
  patch.diff = trial::unified_diff(script.source, replacements, written);
  return patch;
}

ScriptPatch patch_of_script(const std::vector<std::string>& command, const TuneResult& result) {
  const std::string named = script_of(command);
  std::error_code none;
  const fs::path path = fs::absolute(named, none).lexically_normal();
  if (named.empty() || none || !fs::is_regular_file(path, none)) return {};
  std::ifstream file(path, std::ios::binary);
  Script script = {{std::istreambuf_iterator<char>(file), {}}, path.string()};
  if (!file || script.source.size() > kMostSourceBytes) return {};
  const fs::path below = fs::path(named).lexically_normal();
  const bool from_root = below.is_absolute() || below.begin()->string() == "..";
  const fs::path name = from_root ? path.relative_path() : below;
  ScriptPatch patch = patch_of(script, name.string(), result);
  patch.script = named;
  patch.from_root = from_root;
  return patch;
}

}  // namespace unstarve::tune
