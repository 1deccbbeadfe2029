#pragma once

#include <string>
#include <vector>

namespace unstarve::cli {

/// An option, or a word that stands without one's name.
struct OptionDescription {
  std::vector<std::string> names;  // "--out", "-h"; of a word its name: "run"
  std::string help;
  std::string default_text;  // as the help shows it; empty: none
  bool is_word = false;
  bool takes_value = false;
};

/// A command, or the program itself, as plain data: in the order of its help.
struct CommandDescription {
  std::string name;
  std::string help;  // the first line is what it does; further ones are examples
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;
};

}  // namespace unstarve::cli
