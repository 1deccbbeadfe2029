#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "cli/commands/commands.h"
#include "cli/console/terminal.h"
#include "cli/options/command_description.h"

namespace unstarve::cli {

namespace {

/// A text as roff has it: what it takes for commands or escapes is plain.
std::string roff(std::string_view text) {
  std::string plain;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) plain += "\\&";
    if (c == '\\') {
      plain += "\\e";
    } else if (c == '-') {
      plain += "\\-";
    } else {
      plain += c;
    }
    line_begins = c == '\n';
  }
  return plain;
}

/// As one paragraph, however its lines were broken.
std::string one_paragraph(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return roff(text) + "\n";
}

/// The first line is a paragraph; each further one, an example, stands by itself.
std::string paragraphs(std::string_view help) {
  std::string text;
  while (!help.empty()) {
    const std::size_t end = help.find('\n');
    if (!text.empty()) text += "\n.br\n";
    text += roff(help.substr(0, end));
    help = end == std::string_view::npos ? std::string_view() : help.substr(end + 1);
  }
  return text + "\n";
}

void add_command_text(const CommandDescription& command, const std::string& name,
                      std::string& text) {
  text += fmt::format(".SS {}\n{}", roff(name), paragraphs(command.help));
  for (const OptionDescription& option : command.options) {
    text += fmt::format(
        ".TP\n\\fB{}\\fR{}\n{}", roff(fmt::format("{}", fmt::join(option.names, ", "))),
        option.takes_value && !option.is_word ? " \\fIVALUE\\fR" : "", paragraphs(option.help));
    if (!option.default_text.empty()) {
      text += fmt::format(".br\nUnless given: {}\n", roff(option.default_text));
    }
  }
  for (const CommandDescription& one : command.commands) {
    add_command_text(one, name + " " + one.name, text);
  }
}

std::string manual_of(const CommandDescription& program) {
  std::string text = fmt::format(
      ".TH UNSTARVE 1 \"\" \"unstarve {}\"\n.SH NAME\nunstarve \\- says why a GPU starves, and "
      "feeds it\n.SH SYNOPSIS\n\\fBunstarve\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\-\\- "
      "\\fIJOB\\fR...]\n.SH DESCRIPTION\n{}.SH COMMANDS\n",
      roff(UNSTARVE_VERSION), one_paragraph(program.help));
  for (const CommandDescription& one : program.commands) {
    add_command_text(one, "unstarve " + one.name, text);
  }
  text +=
      ".SH EXIT STATUS\n0: done. 1: failed. 2: the command line is wrong, or what it names cannot "
      "be read.\n\\fBunstarve run\\fR has the job's own. \\fBgate\\fR and \\fBcompare\\fR: 3 is a "
      "regression or a broken limit, 4 undecided.\n";
  return text;
}

}  // namespace

void add_manual_command(CommandLine& line, CommandContext& /*context*/) {
  Command command =
      line.add_command("manual", "print the man page\nexample: unstarve manual | man -l -");
  command.when_named([&line] { write_text(Stream::kOut, manual_of(line.description())); });
}

}  // namespace unstarve::cli
