#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands/runs/runs_commands.h"
#include "cli/console/terminal.h"
#include "runs/labels.h"
#include "runs/naming.h"

namespace unstarve::cli {

namespace {

struct TagOptions {
  std::string run;
  std::vector<std::string> tags;
  bool remove = false;
};

struct NoteOptions {
  std::string run;
  std::string text;
};

/// All tags, or none where one of them is no tag.
Status tag(const TagOptions& options) {
  const auto folder = runs::find_one(options.run, kRunsFolder);
  if (!folder) return forward_error(folder);
  for (const std::string& tag : options.tags) {
    if (const Status fine = runs::check_tag(tag); !fine) return fine;
  }
  for (const std::string& tag : options.tags) {
    const Status done =
        options.remove ? runs::remove_tag(*folder, tag) : runs::add_tag(*folder, tag);
    if (!done) return done;
  }
  const std::vector<std::string> tags = runs::read_labels(*folder).tags;
  say(tags.empty() ? fmt::format("{} has no tags now", *folder)
                   : fmt::format("{} has the tags {}", *folder, fmt::join(tags, ", ")));
  return {};
}

Status note(const NoteOptions& options) {
  const auto folder = runs::find_one(options.run, kRunsFolder);
  if (!folder) return forward_error(folder);
  if (const Status done = runs::write_note(*folder, options.text); !done) return done;
  say(*folder + (options.text.empty() ? " has no note now" : " has the note"));
  return {};
}

}  // namespace

void add_runs_tag(Command& runs, CommandContext& context) {
  auto options = std::make_shared<TagOptions>();
  Command command =
      runs.add_command("tag", "give a run tags; `prune` keeps the runs that have one");
  command.option("RUN", options->run, kRunHelp).required();
  command.option("TAG", options->tags, "letters, digits and . _ - = + : @").required();
  command.flag("--remove", options->remove, "take these tags away");
  command.when_named([options, &context] {
    if (const Status done = tag(*options); !done) report_error(context, done.error());
  });
}

void add_runs_note(Command& runs, CommandContext& context) {
  auto options = std::make_shared<NoteOptions>();
  Command command = runs.add_command("note", "note something of a run, in place of its last note");
  command.option("RUN", options->run, kRunHelp).required();
  command.option("TEXT", options->text, "the note; '' removes it").required();
  command.when_named([options, &context] {
    if (const Status done = note(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
