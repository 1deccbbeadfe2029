#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/catalogue.h"
#include "base/result.h"
#include "examine/history/trial_list.h"
#include "isolation/isolation.h"
#include "trial/trial_folder.h"
#include "tune/fix.h"
#include "tune/patch/loader_change.h"
#include "tune/search.h"
#include "tune/trials/job_trials.h"

namespace unstarve::tune {

/// The remedies of a job as a search's changes, as its runs advise them; and what came of each, as
/// the folder of trials lists it.
class Remedies final : public SearchListener {
 public:
  /// All outlive this; `folder` holds the runs that `trials` makes.
  Remedies(std::string folder, std::vector<std::string> command,
           const isolation::Isolation& isolation, JobTrials& trials, FixListener& listener)
      : folder_(std::move(folder)),
        command_(std::move(command)),
        isolation_(isolation),
        trials_(trials),
        listener_(listener) {}

  /// As NextChange. Errors: those of examine_run().
  Result<std::optional<Lever>> next(const std::vector<std::string>& kept);
  /// As SearchOptions::write.
  std::optional<TrialRequest> write(TuneResult& result);
  /// Once the search has ended. Errors: what keeps the list of trials from being written, and
  /// those of examine_run().
  Result<trial::TriedJob> conclude(const TuneResult& found) &&;

  void has_levers(const std::vector<Lever>& levers) override { trials_.know(levers); }
  void ended(const TrialRequest& request, const TrialResult& result) override;
  void noise(double noise_ratio) override { listener_.noise(noise_ratio); }
  void judged(const LeverResult& entry) override;

 private:
  /// A remedy that the hook can apply, as one run advises it.
  struct Candidate {
    const advise::CatalogueEntry* entry = nullptr;
    advise::Remedy remedy;
    advise::Application application;
    bool is_sure = true;  // advised; else only likelier to gain than not
  };

  Status read_first_run();
  const examine::Examination& base() { return *runs_->find(base_); }
  static bool comes_before(const Candidate& a, const Candidate& b);
  std::optional<Candidate> choose();
  void say_not_tried() const;
  Reason why_not_tried(const advise::CatalogueEntry& entry) const;
  void leave_out(const std::string& id, Reason why) const;
  /// What the run `after`, with the remedies `ids`, has otherwise of the job's loader.
  LoaderChange change_of(const examine::Examination& after,
                         const std::vector<std::string>& ids) const;
  void add(const examine::ListedTrial& trial, trial::Verification tried);
  void take_back_what_is_not_kept(const TuneResult& found);
  void add_written(const TuneResult& found);
  void take_back_written(std::size_t last, const Reason& why);

  std::string folder_;
  std::vector<std::string> command_;
  const isolation::Isolation& isolation_;
  JobTrials& trials_;
  FixListener& listener_;
  std::optional<trial::TriedJob> job_;         // once the first run was read
  std::optional<trial::ExaminedTrials> runs_;  // whose first run is that of the job
  std::string base_;                           // the run that advises: of what was kept last
  std::vector<std::string> kept_;
  std::map<std::string, advise::Application> offered_;  // by ids
  std::vector<examine::ListedTrial> list_;              // of job_'s verifications, in their order
  std::vector<std::string> remarks_;                    // on the trials
  std::string why_no_diff_;  // of what is kept; empty: there is one, or no change
};

}  // namespace unstarve::tune
