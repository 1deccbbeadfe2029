#include "tune/fix.h"

#include <fmt/format.h>

#include <utility>

#include "base/shell_word.h"
#include "examine/history/trial_dirs.h"
#include "tune/remedies.h"
#include "tune/search.h"
#include "tune/trials/job_trials.h"

namespace unstarve::tune {

Result<trial::TriedJob> fix(const launch::Installation& parts, const FixOptions& options,
                            FixListener& listener) {
  const auto isolation =
      isolation::Isolation::choose(options.command, options.folder, options.isolation);
  if (!isolation) return forward_error(isolation);
  listener.isolated(*isolation);
  JobTrialsOptions each;
  each.command = options.command;
  each.folder = options.folder;
  each.trial_seconds = options.trial_seconds;
  each.budget_s = options.budget_s;
  each.only_loaders = true;
  each.after_signal = "its runs are in " + shell_word(options.folder);
  each.emulation = options.emulation;
  each.isolation = &*isolation;
  each.on_tick = [&listener](const trial::Trial& trial, const observe::LiveView& view) {
    listener.watches(trial, view);
  };
  JobTrials trials(parts, std::move(each), nullptr);
  Remedies remedies(options.folder, options.command, *isolation, trials, listener);
  SearchOptions asked;
  asked.next = [&remedies](const std::vector<std::string>& kept) { return remedies.next(kept); };
  asked.write = [&remedies](TuneResult& result) { return remedies.write(result); };
  asked.first_label = examine::kBefore;
  asked.trial_seconds = options.trial_seconds;
  const auto found = search(trials, asked, remedies);
  listener.ended({});
  if (!found) return forward_error(found);
  return std::move(remedies).conclude(*found);
}

}  // namespace unstarve::tune
