#include "launch/command_script.h"

#include <filesystem>
#include <string_view>

namespace unstarve::launch {

namespace {

/// Options of Python whose value is the next word where it is not in the same one.
bool takes_next_word(const std::string& word) {
  return word == "-W" || word == "-X" || word == "--check-hash-based-pycs";
}

}  // namespace

std::string script_of(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  if (command.front().ends_with(".py")) return command.front();
  const std::string program = std::filesystem::path(command.front()).filename().string();
  if (!program.starts_with("python")) return {};
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (!word.starts_with("-")) return word;
    if (takes_next_word(word)) {
      ++i;
    } else if (word == "-" ||
               (!word.starts_with("--") && !word.starts_with("-W") && !word.starts_with("-X") &&
                word.find_first_of("cm") != std::string::npos)) {
      return {};  // the standard input, code in the command, a module
    }
  }
  return {};
}

}  // namespace unstarve::launch
