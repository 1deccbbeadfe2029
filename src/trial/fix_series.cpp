#include "trial/fix_series.h"

#include <cstdlib>
#include <utility>

#include "advise/catalogue.h"
#include "trial/calibrate.h"
#include "trial/observed_job.h"

namespace unstarve::trial {

namespace {

/// unstarve's package, before what the job's own variable says.
Result<std::string> python_path(const Installation& parts, const std::string& folder) {
  auto ours = lone_package_dir(parts, folder + "/package");
  const char* theirs = std::getenv("PYTHONPATH");
  if (ours && theirs != nullptr && *theirs != '\0') *ours += std::string(":") + theirs;
  return ours;
}

class FixSeries {
 public:
  FixSeries(const Installation& parts, const FixOptions& options, TrialListener& listener,
            std::optional<int>& told)
      : parts_(parts), options_(options), listener_(listener), told_(told) {}

  Result<TriedJob> run() {
    auto before = run_one(kBefore, {worker_calibration_variable()});
    if (!before) return forward_error(before);
    predict_calibrated(*before);
    TriedJob job{*std::move(before), {}};
    for (const advise::CatalogueEntry& entry : advise::catalogue()) {
      if (!entry.model && !entry.apply) continue;
      if (const Status tried = try_one(entry, job); !tried) return forward_error(tried);
    }
    return job;
  }

 private:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  Result<Examination> run_one(const std::string& label, const Environment& environment) {
    Trial trial;
    trial.label = label;
    trial.command = options_.command;
    trial.environment = environment;
    trial.run_dir = trial_dir(options_.folder, label);
    trial.emulation = options_.emulation;
    trial.length.seconds = options_.trial_seconds;
    return run_trial(parts_, trial, listener_, told_);
  }

  /// Says why a remedy is not tried, or tries it.
  Status try_one(const advise::CatalogueEntry& entry, TriedJob& job) {
    const advise::Remedy* remedy = job.before.advice.find(entry.id);
    if (remedy == nullptr) {
      if (entry.apply) listener_.not_tried(entry.id, "the diagnosis does not advise it");
      return {};
    }
    const auto application = entry.apply ? entry.apply(*remedy) : std::nullopt;
    if (!application) {
      listener_.not_tried(entry.id, entry.why_not_tried);
      return {};
    }
    return run_with(entry.id, *application, job);
  }

  Status run_with(const std::string& id, const advise::Application& application, TriedJob& job) {
    listener_.begins(id, application.change);
    Environment environment = application.environment;
    if (application.needs_package) {
      const auto path = python_path(parts_, options_.folder);
      if (!path) return forward_error(path);
      environment.emplace_back("PYTHONPATH", *path);
    }
    const auto after = run_one(id, environment);
    if (!after) return forward_error(after);
    if (!after->fix_applied) {
      listener_.not_tried(
          id, "the job's loader was left as it is: " +
                  (after->fix_refused.empty() ? "the hook saw none" : after->fix_refused));
      return {};
    }
    job.verification.push_back(verify(job.before, *after, id, application.change));
    listener_.measured(job.verification.back());
    return {};
  }

  const Installation& parts_;
  const FixOptions& options_;
  TrialListener& listener_;
  std::optional<int>& told_;
};

}  // namespace

Result<TriedJob> run_fix_series(const Installation& parts, const FixOptions& options,
                                TrialListener& listener, std::optional<int>& told) {
  return FixSeries(parts, options, listener, told).run();
}

}  // namespace unstarve::trial
