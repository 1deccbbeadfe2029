#include "tune/judging/same_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/statistics.h"
#include "predict/verification.h"

namespace unstarve::tune {

namespace {

constexpr double kMostParts = 40;
constexpr double kFewestParts = 8;
constexpr double kAlike = 0.7;    // correlation: half of what varies is the steps'
constexpr double kVaried = 0.05;  // deviation of parts, of their mean: less needs no such care

/// A run's time over its steps; between the ends of what was measured, as a straight line.
class TimeOfSteps {
 public:
  explicit TimeOfSteps(const TrialResult& run) {
    for (std::size_t i = 0; i < run.steps_s.size(); ++i) {
      const double steps = i < run.steps_of_each.size() ? run.steps_of_each[i] : 1;
      steps_.push_back(steps_.back() + steps);
      seconds_.push_back(seconds_.back() + steps * run.steps_s[i]);
    }
  }
  double steps() const { return steps_.back(); }
  /// Of those that were measured, how many lie within the first `steps`.
  double measured_within(double steps) const {
    return static_cast<double>(std::upper_bound(steps_.begin(), steps_.end(), steps) -
                               steps_.begin() - 1);
  }
  double until(double step) const {
    const auto above = std::lower_bound(steps_.begin() + 1, steps_.end() - 1, step);
    const auto at = static_cast<std::size_t>(above - steps_.begin());
    const double share = (step - steps_[at - 1]) / (steps_[at] - steps_[at - 1]);
    return seconds_[at - 1] + share * (seconds_[at] - seconds_[at - 1]);
  }
  std::vector<double> in_parts(double steps, double parts) const {
    std::vector<double> seconds;
    for (double part = 0; part < parts; ++part) {
      seconds.push_back(until(steps * (part + 1) / parts) - until(steps * part / parts));
    }
    return seconds;
  }

 private:
  std::vector<double> steps_ = {0};
  std::vector<double> seconds_ = {0};
};

/// 0 where either hardly varies.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto count = static_cast<double>(a.size());
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    of_a += (a[i] - mean_a) * (a[i] - mean_a);
    of_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  const auto varies = [count](double squares, double mean) {
    return std::sqrt(squares / count) > kVaried * mean;
  };
  return varies(of_a, mean_a) && varies(of_b, mean_b) ? both / std::sqrt(of_a * of_b) : 0;
}

}  // namespace

std::optional<predict::Speedup> speedup_of_same_steps(const TrialResult& before,
                                                      const TrialResult& after) {
  if (before.steps_s.empty() || after.steps_s.empty()) return std::nullopt;
  const TimeOfSteps old_time(before);
  const TimeOfSteps new_time(after);
  const double steps = std::min(old_time.steps(), new_time.steps());
  const double parts =
      std::min({kMostParts, old_time.measured_within(steps), new_time.measured_within(steps)});
  if (parts < kFewestParts) return std::nullopt;
  const std::vector<double> old_s = old_time.in_parts(steps, parts);
  const std::vector<double> new_s = new_time.in_parts(steps, parts);
  if (correlation(old_s, new_s) < kAlike) return std::nullopt;
  return predict::paired_speedup(old_s, new_s);
}

}  // namespace unstarve::tune
