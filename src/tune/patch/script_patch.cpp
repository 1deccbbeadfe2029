#include "tune/patch/script_patch.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "launch/command_script.h"
#include "launch/job_python.h"
#include "script/edited_script.h"
#include "tune/patch/lever_edit.h"

namespace unstarve::tune {

ScriptPatch patch_of_script(const std::vector<std::string>& command, const TuneResult& result) {
  namespace fs = std::filesystem;
  ScriptPatch patch;
  patch.script = launch::script_of(command);
  std::error_code none;
  const fs::path path = fs::absolute(patch.script, none).lexically_normal();
  if (patch.script.empty() || none || !fs::is_regular_file(path, none)) return {};
  std::vector<script::ScriptEdit> edits;
  std::vector<std::pair<std::string, std::optional<std::size_t>>> kept;  // ids, and which edit
  for (const LeverResult& entry : result.levers) {
    if (!entry.is_kept()) continue;
    auto edit = edit_for(entry.lever, path.string(), result.baseline);
    kept.emplace_back(entry.lever.id, edit ? std::optional(edits.size()) : std::nullopt);
    if (edit) edits.push_back(*std::move(edit));
  }
  const std::string python = launch::find_job_python("", command).program;
  script::EditedScript edited = script::edit_script(python, path.string(), edits);
  for (const auto& [id, number] : kept) {
    if (!number || !edited.refused[*number].empty()) patch.left.push_back(id);
  }
  patch.path = path.string();
  patch.text = std::move(edited.text);
  patch.diff = std::move(edited.diff);
  patch.from_root = edited.from_root;
  return patch;
}

}  // namespace unstarve::tune
