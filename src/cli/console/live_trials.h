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
      status_ = std::make_unique<LiveStatus>(clock_, shown(now.label), now.emulation != nullptr);
    }
    status_->update(view);
  }
  void ended(const trial::Trial& /*trial*/) override {
    if (status_) status_->finish();
    status_.reset();
  }

 private:
  /// Of the labels that searches give: "more_workers", "more_workers again", "without it".
  static std::string shown(const std::string& label) {
    const std::size_t dot = label.find('.');
    if (dot == std::string::npos) return label;
    const std::string name = label.substr(0, dot);
    const std::string rest = label.substr(dot + 1);
    if (name == "left_out") return rest.ends_with(".with") ? "all that is kept" : "without " + rest;
    if (rest == "2" || name == "before") return name + " again";
    return "without it";
  }

  SteadyClock clock_;
  std::unique_ptr<LiveStatus> status_;  // of the job that runs
};

}  // namespace unstarve::cli
