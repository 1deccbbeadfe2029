#include "cli/options/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <system_error>
#include <utility>

#include "cli/options/nearest_word.h"

namespace unstarve::cli {

namespace {

constexpr std::size_t kHelpColumn = 34;

CLI::Validator number_between(double low, double high) {
  const std::string range = fmt::format("{} to {}", low, high);
  const auto check = [low, high, range](std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, number);
    // A number that is none (nan) is not between any two.
    const bool good = failed == std::errc() && rest == end && number >= low && number <= high;
    return good ? std::string() : fmt::format("takes a number from {}, not '{}'", range, text);
  };
  return CLI::Validator(check, range, "number");
}

std::string did_you_mean(const std::string& given, const std::vector<std::string>& names) {
  const std::string nearest = nearest_word(given, names);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

template <class Commands>
std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names;
  for (const CLI::App* const command : commands) names.push_back(command->get_name());
  return names;
}

/// "unstarve run: there is no option '--emulat'; did you mean '--emulate'?", or the same of a
/// command's command; empty where what was not expected is neither. `named`: the words before it.
std::string wrong_word(const CLI::App& parser, const std::string& named) {
  for (const CLI::App* const command : parser.get_subcommands()) {
    const std::string here = named + " " + command->get_name();
    if (std::string wrong = wrong_word(*command, here); !wrong.empty()) return wrong;
    std::vector<std::string> options;
    for (const CLI::Option* const option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    }
    const std::vector<std::string> commands = names_of(command->get_subcommands({}));
    for (const std::string& word : command->remaining()) {
      const bool is_option = word.starts_with("--") && word != "--";
      if (!is_option && commands.empty()) continue;
      const std::string given = word.substr(0, word.find('='));
      return fmt::format("{}: there is no {} '{}'{}\n`{} --help` lists them\n", here,
                         is_option ? "option" : "command", given,
                         did_you_mean(given, is_option ? options : commands), here);
    }
  }
  return {};
}

OptionDescription describe(const CLI::Option& option) {
  OptionDescription said;
  for (const std::string& name : option.get_snames()) said.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) said.names.push_back("--" + name);
  said.is_word = option.get_positional();
  if (said.is_word) said.names = {option.get_name()};
  said.help = option.get_description();
  said.default_text = option.get_default_str();
  said.takes_value = option.get_items_expected_max() > 0;
  return said;
}

CommandDescription describe(const CLI::App& command) {
  CommandDescription said;
  said.name = command.get_name();
  said.help = command.get_description();
  for (const CLI::Option* const option : command.get_options()) {
    said.options.push_back(describe(*option));
  }
  for (const CLI::App* const one : command.get_subcommands({})) {
    said.commands.push_back(describe(*one));
  }
  return said;
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::shows_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::shows_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::between(double low, double high) {
  option_->check(number_between(low, high));
  return *this;
}

Option& Option::is_size() {
  option_->transform(CLI::AsSizeValue(false));
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::separated_by_commas() {
  option_->delimiter(',');
  return *this;
}

Option& Option::may_lack_value() {
  option_->expected(0, 1);
  return *this;
}

bool Option::was_given() const { return option_->count() > 0; }

Option Command::option(const std::string& name, std::string& value, const std::string& help) {
  return Option(*parser_->add_option(name, value, help));
}

Option Command::option(const std::string& name, std::vector<std::string>& values,
                       const std::string& help) {
  return Option(*parser_->add_option(name, values, help));
}

Option Command::option(const std::string& name, int& value, const std::string& help) {
  return Option(*parser_->add_option(name, value, help));
}

Option Command::option(const std::string& name, std::vector<int>& values, const std::string& help) {
  return Option(*parser_->add_option(name, values, help));
}

Option Command::option(const std::string& name, std::int64_t& value, const std::string& help) {
  return Option(*parser_->add_option(name, value, help));
}

Option Command::option(const std::string& name, std::uint64_t& value, const std::string& help) {
  return Option(*parser_->add_option(name, value, help));
}

Option Command::option(const std::string& name, double& value, const std::string& help) {
  return Option(*parser_->add_option(name, value, help));
}

Option Command::flag(const std::string& name, bool& value, const std::string& help) {
  return Option(*parser_->add_flag(name, value, help));
}

void Command::ends_with_words() { parser_->positionals_at_end(); }

Command Command::add_command(const std::string& name, const std::string& help) {
  parser_->require_subcommand(0, 1);
  return Command(*parser_->add_subcommand(name, help));
}

void Command::when_named(std::function<void()> act) {
  parser_->callback([parser = parser_, act = std::move(act)] {
    if (parser->get_subcommands().empty()) act();
  });
}

CommandLine::CommandLine(const std::string& description, const std::string& program,
                         const std::string& version)
    : parser_(std::make_unique<CLI::App>(description, program)) {
  parser_->set_version_flag("--version", program + " " + version, "print the version and exit");
  parser_->require_subcommand(1);
  parser_->get_formatter()->column_width(kHelpColumn);
}

CommandLine::~CommandLine() = default;

Command CommandLine::add_command(const std::string& name, const std::string& help) {
  return Command(*parser_->add_subcommand(name, help));
}

std::vector<std::string> CommandLine::commands() const {
  return names_of(parser_->get_subcommands({}));
}

CommandDescription CommandLine::description() const { return describe(*parser_); }

bool CommandLine::parse(int argc, char** argv) {
  try {
    parser_->parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    const std::string wrong = wrong_word(*parser_, parser_->get_name());
    if (wrong.empty()) return parser_->exit(error) == 0;
    std::cerr << wrong;
    return false;
  } catch (const CLI::ParseError& error) {
    return parser_->exit(error) == 0;  // --help leaves through here too
  }
  return true;
}

}  // namespace unstarve::cli
