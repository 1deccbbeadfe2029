#include "isolation/own_folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace unstarve::isolation {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWord = kTrialWord;

bool has_word(std::string_view text) { return text.find(kWord) != std::string_view::npos; }

std::string replaced(std::string text, const std::string& name) {
  for (std::size_t at = text.find(kWord); at != std::string::npos;
       at = text.find(kWord, at + name.size())) {
    text.replace(at, kWord.size(), name);
  }
  return text;
}

/// The path that `text` names by the word, up to the name that has it.
std::string path_in(const std::string& text, const std::string& name,
                    const std::string& working_folder) {
  const std::size_t word = text.find(kWord);
  const std::size_t equals = text.rfind('=', word);
  const std::size_t from = equals == std::string::npos ? 0 : equals + 1;
  const std::size_t end = std::min(text.find('/', word), text.size());
  const fs::path path = replaced(text.substr(from, end - from), name);
  const fs::path whole = path.is_absolute() ? path : fs::path(working_folder) / path;
  return whole.lexically_normal().string();
}

}  // namespace

bool says_trial(const std::vector<std::string>& command, const char* const* environment) {
  if (std::any_of(command.begin(), command.end(), has_word)) return true;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (has_word(*environment)) return true;
  }
  return false;
}

OwnCommand with_trial_name(const std::vector<std::string>& command, const char* const* environment,
                           const std::string& name, const std::string& working_folder) {
  OwnCommand own;
  for (const std::string& word : command) {
    own.command.push_back(replaced(word, name));
    if (has_word(word)) own.paths.push_back(path_in(word, name, working_folder));
  }
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string entry = *environment;
    const std::size_t equals = entry.find('=');
    if (!has_word(entry) || equals == std::string::npos) continue;
    const std::string value = entry.substr(equals + 1);
    own.environment.emplace_back(entry.substr(0, equals), replaced(value, name));
    own.paths.push_back(path_in(value, name, working_folder));
  }
  return own;
}

}  // namespace unstarve::isolation
