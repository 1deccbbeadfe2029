#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "examine/examination.h"
#include "trace/run_reader.h"

namespace unstarve::compare {

/// What a run was, beside what was measured of it.
enum class SettingGroup { kCommand, kLoader, kVersions, kEnvironment, kMachine, kRoofs };
inline constexpr std::array kAllSettingGroups = {
    SettingGroup::kCommand,     SettingGroup::kLoader,  SettingGroup::kVersions,
    SettingGroup::kEnvironment, SettingGroup::kMachine, SettingGroup::kRoofs};

/// One of these, in words: {kLoader, "num_workers", "4"}.
struct Setting {
  SettingGroup group = SettingGroup::kCommand;
  std::string name;
  std::string value;  // empty: it is not set
  double amount = 0;  // of a roof: the number in `value`
};

/// The script that a run ran, as it was then.
struct ScriptText {
  std::string path;  // as the command names it; empty: not known
  std::string text;  // empty: it was not kept
};

/// What is known of one; settings of which nothing is known are left out.
struct RunSettings {
  std::vector<Setting> settings;
  ScriptText script;
  std::vector<SettingGroup> whole_groups;  // of these the run keeps all: what it lacks is not set
};

/// `run`: null for a trace.
RunSettings settings_of(const examine::Examination& examined, const trace::RunReader* run);

/// What is not the same; values that one side does not know are left out, and so are roofs that
/// differ by less than measuring them again would.
struct Difference {
  SettingGroup group = SettingGroup::kCommand;
  std::string name;
  std::string a;
  std::string b;
};
std::vector<Difference> differences(const RunSettings& a, const RunSettings& b);

/// "command", "loader", "versions", "environment", "machine", "roofs".
std::string_view to_string(SettingGroup group);

}  // namespace unstarve::compare
