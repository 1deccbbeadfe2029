#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/console/terminal.h"
#include "cli/options/command_description.h"

namespace unstarve::cli {

namespace {

/// The name that help and documents use: the first one that is a word.
std::string usual_name(const OptionDescription& option) {
  for (const std::string& name : option.names) {
    if (name.starts_with("--")) return name;
  }
  return option.names.front();
}

std::vector<std::string> option_names(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options) {
    if (!option.is_word) names.push_back(usual_name(option));
  }
  return names;
}

std::vector<std::string> command_names(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const CommandDescription& one : command.commands) names.push_back(one.name);
  return names;
}

/// The commands' words, and what may follow them, as cases of a shell's `case`.
struct BashCases {
  std::vector<std::string> paths;
  std::string words;
};

void add_cases(const CommandDescription& command, const std::string& path, BashCases& cases) {
  cases.words +=
      fmt::format("    \"{}\") options=\"{}\" commands=\"{}\" ;;\n", path,
                  fmt::join(option_names(command), " "), fmt::join(command_names(command), " "));
  for (const CommandDescription& one : command.commands) {
    const std::string below = path + " " + one.name;
    cases.paths.push_back('"' + below + '"');
    add_cases(one, below, cases);
  }
}

/// Behind `--` stands a job, which completes as if it stood alone.
std::string bash_completion(const CommandDescription& program) {
  BashCases cases;
  add_cases(program, "", cases);
  return fmt::format(R"(# unstarve: source <(unstarve completion bash)
_unstarve() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" path="" options="" commands="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ "${{COMP_WORDS[i]}}" == "--" ]]; then
      if declare -F _command_offset >/dev/null; then _command_offset $((i + 1)); fi
      return
    fi
    case "$path ${{COMP_WORDS[i]}}" in
      {}) path="$path ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$path" in
{}  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n "$commands" ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}}
complete -o bashdefault -o default -F _unstarve unstarve
)",
                     fmt::join(cases.paths, "|"), cases.words);
}

std::string zsh_completion(const CommandDescription& program) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash_completion(program);
}

std::string in_fish_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void add_fish_lines(const CommandDescription& command, const std::string& seen, std::string& text) {
  for (const OptionDescription& option : command.options) {
    if (option.is_word) continue;
    const std::string name = usual_name(option);
    const bool is_long = name.starts_with("--");
    text += fmt::format("complete -c unstarve -n {} {} {}{} -d {}\n", in_fish_quotes(seen),
                        is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1),
                        option.takes_value ? " -r" : "", in_fish_quotes(first_line(option.help)));
  }
  if (command.commands.empty()) return;
  const std::string none = fmt::format("{}; and not __fish_seen_subcommand_from {}", seen,
                                       fmt::join(command_names(command), " "));
  for (const CommandDescription& one : command.commands) {
    text += fmt::format("complete -c unstarve -n {} -f -a {} -d {}\n", in_fish_quotes(none),
                        one.name, in_fish_quotes(first_line(one.help)));
    add_fish_lines(one, fmt::format("{}; and __fish_seen_subcommand_from {}", seen, one.name),
                   text);
  }
}

std::string fish_completion(const CommandDescription& program) {
  std::string text = "# unstarve: unstarve completion fish | source\n";
  add_fish_lines(program, "true", text);
  return text;
}

Result<std::string> completion_of(const CommandDescription& program, const std::string& shell) {
  if (shell == "bash") return bash_completion(program);
  if (shell == "zsh") return zsh_completion(program);
  if (shell == "fish") return fish_completion(program);
  return fail(ErrorCode::kInvalidArgument, "completion: there is none for '{}'; bash, zsh, fish",
              shell);
}

}  // namespace

void add_completion_command(CommandLine& line, CommandContext& context) {
  auto shell = std::make_shared<std::string>();
  Command command =
      line.add_command("completion",
                       "print how a shell completes unstarve's commands and options\n"
                       "example: source <(unstarve completion bash)   # in ~/.bashrc");
  command.option("shell", *shell, "bash, zsh or fish").required();
  command.when_named([shell, &line, &context] {
    const auto text = completion_of(line.description(), *shell);
    if (!text) return report_error(context, text.error());
    write_text(Stream::kOut, *text);
  });
}

}  // namespace unstarve::cli
