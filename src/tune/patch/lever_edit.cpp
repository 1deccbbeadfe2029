#include "tune/patch/lever_edit.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "tune/levers/class_argument.h"

namespace unstarve::tune {

namespace {

namespace fs = std::filesystem;

bool is_script(const std::string& file, const std::string& path) {
  std::error_code none;
  const fs::path whole = fs::absolute(file, none).lexically_normal();
  return !none && whole == fs::path(path);
}

/// Another value of a class's argument, at the call that was seen to construct it.
std::optional<script::CallEdit> argument_edit(const std::string& option, const std::string& value,
                                              const std::string& path, const TrialResult& job) {
  const ClassArgument* const known = find_class_argument(option);
  const auto made = job.constructed.find(option);
  if (known == nullptr || made == job.constructed.end()) return std::nullopt;
  const auto place = script::read_place(made->second.place);
  if (!place || !is_script(place->file, path)) return std::nullopt;
  const std::string name(known->argument);
  script::CallEdit call;
  call.class_name = known->class_name;
  call.line = place->line;
  call.arguments = {{name, value}};
  call.was = {{name, made->second.value}};
  return call;
}

}  // namespace

std::optional<script::ScriptEdit> edit_for(const Lever& lever, const std::string& path,
                                           const TrialResult& job) {
  if (!lever.environment.empty()) return std::nullopt;
  if (!lever.hook.empty() && !lever.written) return std::nullopt;
  script::ScriptEdit edit = lever.written.value_or(script::ScriptEdit());
  for (const auto& [option, value] : lever.arguments) {
    const auto call = argument_edit(option, value, path, job);
    if (!call) return std::nullopt;
    edit.calls.push_back(*call);
  }
  return edit;
}

}  // namespace unstarve::tune
