#include "tune/tune.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include "base/shell_word.h"
#include "host/effective_cpus.h"
#include "tune/levers/allocators.h"
#include "tune/patch/script_patch.h"
#include "tune/trials/job_trials.h"
#include "tune/trials/journal.h"

namespace unstarve::tune {

namespace {

Result<Journal> open_journal(const TuneOptions& options) {
  if (options.resume) return Journal::open(options.folder);
  std::error_code failed;
  std::filesystem::create_directories(options.folder, failed);
  if (failed) return fail_errno(failed.value(), "cannot make the folder " + options.folder);
  return Journal::create(options.folder,
                         {options.command, options.arguments, options.only, options.trial_seconds,
                          options.parity_steps, options.gpu, options.allowed, options.isolation});
}

KeptCommand kept_command(const std::vector<std::string>& command, const TuneResult& result) {
  std::vector<const Lever*> kept;
  KeptCommand found;
  for (const LeverResult& entry : result.levers) {
    if (!entry.is_kept()) continue;
    kept.push_back(&entry.lever);
    found.environment.insert(found.environment.end(), entry.lever.environment.begin(),
                             entry.lever.environment.end());
  }
  const std::vector<std::string> words = with_arguments(command, kept);
  if (words != command || !found.environment.empty()) found.words = words;
  return found;
}

/// Writes what is kept into the script and the command; the run with that and nothing else.
std::optional<TrialRequest> write_kept(const std::vector<std::string>& command,
                                       const isolation::Isolation& isolation, TuneResult& result) {
  result.patch = patch_of_script(command, result);
  result.command = kept_command(command, result);
  if (result.patch.diff.empty()) return std::nullopt;
  if (!isolation.can_change_files()) {
    result.patch.why_no_gain = {
        ReasonKind::kNotRunAsWritten, {}, {quoted(isolation.why_files_stay())}};
    return std::nullopt;
  }
  TrialRequest request;
  // A search that goes on may have kept something else before.
  request.label = fmt::format("as_written-{:x}", std::hash<std::string>()(result.patch.text));
  request.levers = result.kept;
  request.as_written = true;
  request.changes = {{result.patch.path, result.patch.text}};
  return request;
}

/// Passes on what a search says, and tells the trials which levers there are.
class Introduced final : public SearchListener {
 public:
  Introduced(SearchListener& next, JobTrials& trials) : next_(next), trials_(trials) {}
  void isolated(const isolation::Isolation& by) override { next_.isolated(by); }
  void has_levers(const std::vector<Lever>& levers) override {
    trials_.know(levers);
    next_.has_levers(levers);
  }
  void begins(const TrialRequest& request, std::int64_t number) override {
    next_.begins(request, number);
  }
  void ended(const TrialRequest& request, const TrialResult& result) override {
    next_.ended(request, result);
  }
  void noise(double noise_ratio) override { next_.noise(noise_ratio); }
  void judged(const LeverResult& result) override { next_.judged(result); }

 private:
  SearchListener& next_;
  JobTrials& trials_;
};

}  // namespace

Result<std::string> emulated_by(const std::string& folder) {
  const auto journal = Journal::open(folder);
  if (!journal) return forward_error(journal);
  return journal->head().gpu;
}

Result<TuneResult> tune(const launch::Installation& parts, const TuneOptions& options,
                        SearchListener& listener) {
  // Wrong arguments leave no folder.
  if (!options.resume) {
    // By their names trials are told apart.
    std::set<std::string> names = {"threads", "interop_threads"};
    for (const std::string& text : options.arguments) {
      const auto read = read_argument(text, options.command);
      if (!read) return forward_error(read);
      if (names.insert(read->name).second) continue;
      return fail(ErrorCode::kInvalidArgument,
                  "--arg {}: there is a lever of that name already; give it another name", text);
    }
  }
  auto journal = open_journal(options);
  if (!journal) return forward_error(journal);
  SearchOptions asked;
  for (const std::string& text : journal->head().arguments) {
    auto read = read_argument(text, journal->head().command);
    if (!read) return forward_error(read);
    asked.arguments.push_back(*std::move(read));
  }
  asked.only = journal->head().only;
  asked.allowed = journal->head().allowed;
  asked.allocators = find_allocators();
  asked.trial_seconds = journal->head().trial_seconds;
  asked.parity_steps = journal->head().parity_steps;
  const host::HostFiles files;
  if (const auto cpus = host::effective_cpus(files)) asked.cpus = cpus->count;
  const auto isolation = isolation::Isolation::choose(journal->head().command, options.folder,
                                                      journal->head().isolation);
  if (!isolation) return forward_error(isolation);
  listener.isolated(*isolation);
  JobTrialsOptions each;
  each.command = journal->head().command;
  each.arguments = journal->head().arguments;
  each.folder = options.folder + "/trials";
  each.trial_seconds = asked.trial_seconds;
  each.budget_s = options.budget_s;
  each.after_signal =
      fmt::format("`unstarve tune --resume {}` goes on", shell_word(options.folder));
  each.emulation = options.emulation;
  each.isolation = &*isolation;
  each.on_tick = options.on_tick;
  JobTrials trials(parts, std::move(each), &*journal);
  Introduced introduced(listener, trials);
  asked.write = [&](TuneResult& result) {
    return write_kept(journal->head().command, *isolation, result);
  };
  return search(trials, asked, introduced);
}

}  // namespace unstarve::tune
