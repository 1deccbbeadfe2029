#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/shell_word.h"
#include "cli/commands/runs/runs_commands.h"
#include "cli/console/terminal.h"
#include "report/runs/runs_json.h"
#include "report/runs/runs_text.h"
#include "runs/collection.h"
#include "runs/entries.h"
#include "runs/naming.h"

namespace unstarve::cli {

namespace {

constexpr int kMostListed = 1'000'000;

struct ListOptions {
  std::string folder = kRunsFolder;
  runs::ListFilter filter;
  bool json = false;
};

struct ShowOptions {
  std::string run;
  bool json = false;
};

std::string nothing_listed(const ListOptions& options, const runs::Collection& collection) {
  if (!collection.runs.empty()) {
    return fmt::format("none of the {} runs in {} is such a one", collection.runs.size(),
                       options.folder);
  }
  return fmt::format("{} holds no run: `unstarve run -- COMMAND` makes one in runs/",
                     options.folder);
}

Status list(const ListOptions& options) {
  const auto collection = runs::read_collection(options.folder);
  if (!collection) return forward_error(collection);
  const auto listed =
      runs::list_runs(*collection, options.filter, host::HostFiles(), wall_time_ns());
  if (options.json) {
    write_text(Stream::kOut, report::runs_json(listed, options.folder));
  } else if (listed.empty()) {
    say(nothing_listed(options, *collection));
  } else {
    write_text(Stream::kOut, report::runs_table(listed, text_options(Stream::kOut)));
  }
  return {};
}

Status show(const ShowOptions& options) {
  const auto folder = runs::find_one(options.run, kRunsFolder);
  if (!folder) return forward_error(folder);
  const auto entry = runs::read_entry(*folder);
  if (!entry) return forward_error(entry);
  runs::ListFilter each;
  each.all = true;
  const auto listed = runs::list_runs(*entry, each, host::HostFiles(), wall_time_ns());
  if (options.json) {
    write_text(Stream::kOut, report::runs_json(listed, entry->folder));
    return {};
  }
  const report::TextOptions text = text_options(Stream::kOut);
  for (const runs::ListedRun& run : listed) {
    const std::string shown = listed.size() == 1 ? *folder : *folder + "/" + run.name;
    write_text(Stream::kOut, report::run_text(run, shown, text));
  }
  say("more of it: unstarve report " + shell_word(*folder));
  return {};
}

}  // namespace

void add_runs_list(Command& runs, CommandContext& context) {
  auto options = std::make_shared<ListOptions>();  // lives as long as the parser's callback
  const auto act = [options, &context] {
    if (const Status done = list(*options); !done) report_error(context, done.error());
  };
  runs.when_named(act);
  Command command = runs.add_command(
      "list", "one line a run, the newest first; `NAME (+6)` stands for a search of 7 runs");
  command.option("FOLDER", options->folder, "folder that the runs lie in").shows_default();
  command.option("--tag", options->filter.tag, "only runs with this tag");
  command.flag("--failed", options->filter.failed,
               "only runs that ended otherwise than well, or were killed");
  command.flag("--all", options->filter.all, "each run of a search too");
  command.option("--limit", options->filter.at_most, "so many runs at most")
      .between(1, kMostListed);
  command.flag("--json", options->json, "one JSON object (docs/formats/runs.md)");
  command.when_named(act);
}

void add_runs_show(Command& runs, CommandContext& context) {
  auto options = std::make_shared<ShowOptions>();
  Command command = runs.add_command("show", "what is known of a run, without its curves");
  command.option("RUN", options->run, kRunHelp).required();
  command.flag("--json", options->json, "one JSON object (docs/formats/runs.md)");
  command.when_named([options, &context] {
    if (const Status done = show(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
