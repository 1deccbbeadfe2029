#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tune/search.h"

namespace unstarve::tune::testing {

/// A job on a CPU whose step takes 10 ms; levers make it faster or slower by factors.
class PlantedJob final : public Trials {
 public:
  std::map<std::string, double> factor;  // by a lever's id: of the step's time
  std::map<std::string, std::function<void(TrialResult&)>> plant;
  double drift = 0;  // of the second run of the job as it is
  bool zero_losses = false;
  bool compiles = false;  // a compiler is there
  double loading_s = 0;   // that a step takes at least: how long its loader needs for a batch
  // What a run with this many samples a step is like, and one that is several times as long.
  std::function<void(std::int64_t, TrialResult&)> batch;
  std::function<void(std::int64_t, TrialResult&)> verify;
  // What levers do to a run behind all that.
  std::function<void(const std::vector<std::string>&, TrialResult&)> finish;
  std::int64_t most_runs = 1000;
  std::function<double()> run_noise;  // what a run takes more or less than another: 0.01 is 1 %
  std::function<double(const std::vector<std::string>&)> beside;  // of the step's time, by levers
  std::vector<std::string> made;
  std::set<int> parity_steps;  // of the runs that recorded losses
  // How what is kept is written, and what that does to a step's time; empty: it is not.
  std::function<std::optional<TrialRequest>(TuneResult&)> write;
  double written_factor = 1;

  Result<TrialResult> run(const TrialRequest& request) override {
    if (static_cast<std::int64_t>(made.size()) >= most_runs) {
      return fail(ErrorCode::kTimeout, "the budget of 1.0 min ended");
    }
    made.push_back(request.label);
    TrialResult result;
    double step_s = 0.010;
    for (const std::string& id : request.levers) {
      if (factor.count(id) != 0 && !request.as_written) step_s *= factor[id];
    }
    if (request.as_written) step_s *= written_factor;
    if (!request.first_batch_again) step_s = std::max(step_s, loading_s);
    if (beside) step_s *= beside(request.levers);
    if (request.label == "baseline.again") step_s *= 1 + drift;
    if (run_noise) step_s *= 1 + run_noise();
    for (int i = 0; i < 40; ++i) result.steps_s.push_back(step_s * (1 + 0.001 * (i % 3)));
    result.mean_step_s = step_s * 1.001;
    result.samples_per_step = 16;
    result.backwards_per_step = 1;
    result.cold_s = 1;
    result.device = "cpu";
    result.threads = 4;
    result.surveyed = request.survey;
    if (request.survey && !compiles)
      result.why_not["compile"] = "no compiler: neither g++ nor clang++ is there";
    if (request.parity_seed >= 0) {
      record(request.parity_seed, result);
      parity_steps.insert(request.parity_steps);
    }
    for (const std::string& id : request.levers) {
      if (plant.count(id) != 0) plant[id](result);
    }
    if (request.as_written && plant.count(request.label) != 0) plant[request.label](result);
    if (batch) add_batch(request, result);
    if (finish) finish(request.levers, result);
    return result;
  }

 private:
  /// A body whose first layer thaws in the eighth step, two heads in turn, an expert, tied weights,
  /// and an average of the weights.
  static TensorDigests tensors_of(int seed) {
    const std::string each(20, '2');
    std::string thaws = each, first, second;
    for (std::size_t i = 0; i < each.size(); ++i) {
      if (i < 7) thaws[i] = '0';
      first += i % 2 == 0 ? '2' : '0';
      second += i % 2 == 0 ? '0' : '2';
    }
    const double other = 1 + 0.01 * seed;
    const auto moved = [other](double length) {
      const double component = length * other / std::sqrt(8.0);
      return std::vector<double>{component,  -component, component,  component,
                                 -component, component,  -component, -component};
    };
    const std::vector<double> still(8, 0);
    TensorDigests tensors;
    tensors["frozen.weight"] = {64, 3, 0, still, 0.05 * other, thaws};
    tensors["body.weight"] = {64, 3 * other, 0.4, moved(0.02), 0.07 * other, each};
    tensors["body.weight: exp_avg"] = {64, 0, 0, moved(0.1), 0.2 * other, ""};
    tensors["body.mean"] = {8, 0, 0, moved(0.3), 0.9 * other, ""};
    tensors["heads.0.weight"] = {8, 1 * other, 0.3, moved(0.01), 0.04 * other, first};
    tensors["heads.1.weight"] = {8, 1 * other, 0.3, moved(0.01), 0.04 * other, second};
    tensors["heads.1.weight: exp_avg"] = {8, 0, 0, moved(0.1), 0.2 * other, ""};
    tensors["experts.3.weight"] = {32, 2 * other, 0.1, moved(0.01), 0.03 * other, each};
    tensors["tokens.weight"] = {128, 5 * other, 0.2, moved(0.03), 0.1 * other, each};
    tensors["Average 1 beside it: body.weight"] = {64, 3 * other, 0, moved(0.001), 0.02, ""};
    return tensors;
  }

  void add_batch(const TrialRequest& request, TrialResult& result) const {
    std::int64_t size = 16;
    for (const std::string& id : request.levers) {
      if (id.starts_with("batch=")) size = std::stoll(id.substr(6));
    }
    batch(size, result);
    if (verify && request.label.ends_with(".verify")) verify(size, result);
  }

  void record(int seed, TrialResult& result) const {
    for (int i = 0; i < 20; ++i) {
      result.losses.push_back(zero_losses ? 0 : 2.3 - 0.02 * i + 0.01 * seed);
      result.gradient_norms.push_back(zero_losses ? 0 : 1.0 + 0.01 * seed);
      result.rows.push_back(16);
      result.numbers.push_back(16 * 12);
      result.calls.push_back(1);
    }
    if (zero_losses) return;
    result.tensors = tensors_of(seed);
    result.generators = {{"torch", 7 + seed}, {"python", 8 + seed}};
  }
};

/// What holds of each search: all is decided, with a reason, and what is kept is said twice alike.
inline void expect_decided(const TuneResult& result) {
  std::vector<std::string> kept;
  for (const LeverResult& entry : result.levers) {
    EXPECT_FALSE(entry.is_pending() || !entry.why) << entry.lever.id;
    if (entry.is_kept()) kept.push_back(entry.lever.id);
  }
  EXPECT_THAT(result.kept, ::testing::UnorderedElementsAreArray(kept));
}

inline TuneResult found(PlantedJob& job, std::vector<std::string> only = {},
                        std::vector<Argument> arguments = {},
                        std::map<std::string, std::string> allocators = {}) {
  SearchOptions options;
  options.only = std::move(only);
  options.arguments = std::move(arguments);
  options.cpus = 4;
  options.allocators = std::move(allocators);
  options.write = job.write;
  SearchListener listener;
  auto result = search(job, options, listener);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  if (result) expect_decided(*result);
  return result ? *std::move(result) : TuneResult();
}

inline const LeverResult& of(const TuneResult& result, const std::string& id) {
  const auto at =
      std::find_if(result.levers.begin(), result.levers.end(),
                   [&](const LeverResult& candidate) { return candidate.lever.id == id; });
  EXPECT_NE(at, result.levers.end()) << id;
  return *at;
}

}  // namespace unstarve::tune::testing
