#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/command_description.h"

// The library that parses is seen in command_line.cpp alone: it takes seconds to compile.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace unstarve::cli {

/// An option of a command, or a word that stands without one's name.
/// Lifetime: as the CommandLine's, like all of this header.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& required();
  /// The help says the value that the variable has now, or `text`.
  Option& shows_default();
  Option& shows_default(const std::string& text);
  /// Takes numbers of this range; of others it says in one line what it takes and what it got.
  Option& between(double low, double high);
  /// Several values in one word, with commas between.
  Option& separated_by_commas();
  /// Takes a size: 1GiB, 256MiB, or a number of bytes.
  Option& is_size();
  /// Only one of the two may be on the command line.
  Option& excludes(const Option& other);
  /// The value may be left out.
  Option& may_lack_value();
  /// Whether it was on the command line.
  bool was_given() const;

 private:
  CLI::Option* option_;
};

/// What a command takes. Values go into variables that outlive the parsing.
///
///   Command command = line.add_command("report", "show a run");
///   command.option("RUN", options->run, "run folder").required();
///   command.when_named([options] { ... });
class Command {
 public:
  explicit Command(CLI::App& parser) : parser_(&parser) {}

  Option option(const std::string& name, std::string& value, const std::string& help);
  Option option(const std::string& name, std::vector<std::string>& values, const std::string& help);
  Option option(const std::string& name, int& value, const std::string& help);
  Option option(const std::string& name, std::vector<int>& values, const std::string& help);
  Option option(const std::string& name, std::int64_t& value, const std::string& help);
  Option option(const std::string& name, std::uint64_t& value, const std::string& help);
  Option option(const std::string& name, double& value, const std::string& help);
  Option flag(const std::string& name, bool& value, const std::string& help);
  /// A command of this one: "list" of "runs". Where none is named, when_named() of this one acts.
  Command add_command(const std::string& name, const std::string& help);
  /// What follows the first word that is no option belongs to the last positional argument.
  void ends_with_words();
  /// What is done when the command line names this command and is right.
  void when_named(std::function<void()> act);

 private:
  CLI::App* parser_;
};

/// The program's commands and how its command line is read.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& program,
              const std::string& version);
  ~CommandLine();

  Command add_command(const std::string& name, const std::string& help);
  std::vector<std::string> commands() const;
  /// The program, with all that was added.
  CommandDescription description() const;
  /// Does what the command line says. False where it is wrong, which has been said on stderr.
  bool parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> parser_;
};

}  // namespace unstarve::cli
