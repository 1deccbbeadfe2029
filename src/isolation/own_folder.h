#pragma once

#include <string>
#include <utility>
#include <vector>

namespace unstarve::isolation {

/// Where a command or a variable says `{trial}`, each trial has a name there that nothing had
/// before: `--output-dir out/{trial}` is a folder of its own.
inline constexpr const char* kTrialWord = "{trial}";

struct OwnCommand {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;  // variables that had the word
  std::vector<std::string> paths;  // what words name by it: absolute, from `=` on, up to that name
};

/// `environment`: as execve(2) takes it.
OwnCommand with_trial_name(const std::vector<std::string>& command, const char* const* environment,
                           const std::string& name, const std::string& working_folder);

bool says_trial(const std::vector<std::string>& command, const char* const* environment);

}  // namespace unstarve::isolation
