#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/number_words.h"
#include "cli/commands/runs/runs_commands.h"
#include "cli/console/terminal.h"
#include "runs/collection.h"
#include "runs/naming.h"
#include "runs/removal.h"

namespace unstarve::cli {

namespace {

constexpr double kMostDays = 36'500;
constexpr std::size_t kMostNamesLeft = 10;

struct RmOptions {
  std::vector<std::string> runs;
  bool yes = false;
};

struct PruneCommandOptions {
  std::string folder = kRunsFolder;
  runs::PruneOptions prune;
  bool dry_run = false;
  bool yes = false;
};

struct Going {
  std::string folder;
  runs::Removal removal;
};

std::string size_text(std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string left_text(const runs::Removal& removal) {
  std::vector<std::string> names = removal.left;
  std::string more;
  if (names.size() > kMostNamesLeft) {
    more = fmt::format(" and {} more", names.size() - kMostNamesLeft);
    names.resize(kMostNamesLeft);
  }
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

/// What would go of each, or of none where one of them cannot.
Result<std::vector<Going>> plan(const std::vector<std::string>& folders) {
  std::vector<Going> going;
  for (const std::string& folder : folders) {
    auto removal = runs::remove_entry(folder, runs::Removing::kPlan, host::HostFiles());
    if (!removal) return forward_error(removal);
    going.push_back({folder, *std::move(removal)});
  }
  return going;
}

std::int64_t say_plan(const std::vector<Going>& going) {
  std::int64_t bytes = 0;
  for (const Going& entry : going) {
    bytes += entry.removal.bytes;
    say(fmt::format("{}: {} in {} files", entry.folder, size_text(entry.removal.bytes),
                    entry.removal.files));
    if (!entry.removal.left.empty()) {
      say("  stays, since unstarve did not write it: " + left_text(entry.removal));
    }
  }
  return bytes;
}

/// Asks on a terminal. Where nobody can be asked, only --yes is an answer.
Result<bool> is_agreed(bool yes, std::size_t runs, std::int64_t bytes) {
  if (yes) return true;
  if (::isatty(STDIN_FILENO) != 1) {
    return fail(ErrorCode::kInvalidArgument,
                "nothing was removed: nobody can be asked here; add --yes");
  }
  write_text(Stream::kErr, fmt::format("unstarve: remove {} run{}, {}? [y/N] ", runs,
                                       runs == 1 ? "" : "s", size_text(bytes)));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

Status remove_all(const std::vector<Going>& going) {
  std::int64_t bytes = 0;
  for (const Going& entry : going) {
    const auto removed = runs::remove_entry(entry.folder, runs::Removing::kDo, host::HostFiles());
    if (!removed) return forward_error(removed);
    bytes += removed->bytes;
  }
  say(fmt::format("removed {} run{}: {} are free", going.size(), going.size() == 1 ? "" : "s",
                  size_text(bytes)));
  return {};
}

Status remove_asked(const std::vector<std::string>& folders, bool yes) {
  const auto going = plan(folders);
  if (!going) return forward_error(going);
  const std::int64_t bytes = say_plan(*going);
  const auto agreed = is_agreed(yes, going->size(), bytes);
  if (!agreed) return forward_error(agreed);
  if (*agreed) return remove_all(*going);
  say("nothing was removed");
  return {};
}

Status rm(const RmOptions& options) {
  std::vector<std::string> folders;
  for (const std::string& run : options.runs) {
    auto folder = runs::find_one(run, kRunsFolder);
    if (!folder) return forward_error(folder);
    folders.push_back(*std::move(folder));
  }
  return remove_asked(folders, options.yes);
}

Status prune(const PruneCommandOptions& options) {
  if (options.prune.keep_days <= 0 && options.prune.bytes_most <= 0) {
    return fail(ErrorCode::kInvalidArgument,
                "which runs may go? `--keep-days 30`: older ones; `--max-size 20G`: the oldest, "
                "until the others have no more than that");
  }
  const auto collection = runs::read_collection(options.folder);
  if (!collection) return forward_error(collection);
  const runs::Prunable prunable =
      runs::prunable(*collection, options.prune, host::HostFiles(), wall_time_ns());
  std::vector<std::string> folders;
  for (const std::string& name : prunable.names) folders.push_back(options.folder + "/" + name);
  if (folders.empty()) {
    say(fmt::format("nothing goes of {}: {} in all", options.folder,
                    size_text(prunable.bytes_kept)));
    return {};
  }
  if (!options.dry_run) return remove_asked(folders, options.yes);
  const auto going = plan(folders);
  if (!going) return forward_error(going);
  const std::int64_t bytes = say_plan(*going);
  say(fmt::format("{} run{} would go, {}; {} would stay", going->size(),
                  going->size() == 1 ? "" : "s", size_text(bytes), size_text(prunable.bytes_kept)));
  return {};
}

}  // namespace

void add_runs_rm(Command& runs, CommandContext& context) {
  auto options = std::make_shared<RmOptions>();
  Command command = runs.add_command(
      "rm", "remove what unstarve wrote of runs that have ended; other files stay");
  command.option("RUN", options->runs, kRunHelp).required();
  command.flag("--yes", options->yes, "do not ask");
  command.when_named([options, &context] {
    if (const Status done = rm(*options); !done) report_error(context, done.error());
  });
}

void add_runs_prune(Command& runs, CommandContext& context) {
  auto options = std::make_shared<PruneCommandOptions>();
  Command command =
      runs.add_command("prune", "remove old runs, but for tagged ones and those that go on");
  command.option("FOLDER", options->folder, "folder that the runs lie in").shows_default();
  command.option("--keep-days", options->prune.keep_days, "runs older than so many days go")
      .between(0.001, kMostDays);
  command
      .option("--max-size", options->prune.bytes_most,
              "the oldest go until the others take no more: 20G, 500M")
      .is_size();
  command.flag("--dry-run", options->dry_run, "only say what would go");
  command.flag("--yes", options->yes, "do not ask");
  command.when_named([options, &context] {
    if (const Status done = prune(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
