#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "cli/console/live_status.h"
#include "trial/trial.h"

namespace unstarve::cli {

/// Shows each trial's job on stderr while it runs.
template <class Listener>
class LiveTrials : public Listener {
 public:
  void watches(const trial::Trial& now, const observe::LiveView& view) override {
    if (!status_) {
      const bool again = now.label.find('.') != std::string::npos;  // "more_workers.again"
      const std::string& label = again ? kWithoutIt : now.label;
      status_ = std::make_unique<LiveStatus>(clock_, label, now.emulation != nullptr);
    }
    status_->update(view);
  }
  void ended(const trial::Trial& /*trial*/) override {
    if (status_) status_->finish();
    status_.reset();
  }

 private:
  inline static const std::string kWithoutIt = "without it";

  SteadyClock clock_;
  std::unique_ptr<LiveStatus> status_;  // of the job that runs
};

}  // namespace unstarve::cli
