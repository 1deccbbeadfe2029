#include "feed/pipeline/control/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace unstarve::feed {
namespace {

using testing::HasSubstr;

constexpr double kTick = 0.002;   // seconds of the model
constexpr double kWindow = 0.25;  // seconds between decisions
constexpr double kSettled = 5.0;  // seconds after a change
constexpr std::int64_t kNsPerS = 1'000'000'000;

/// A loader with its consumer as a fluid: threads share the cores with others, fill a store of
/// batches, and a consumer empties it batch by batch.
struct Model {
  int cores = 8;
  int others = 0;             // busy threads of other programs
  double cpu_s = 0.004;       // per image
  double storage_s = 0.0;     // per image, waiting
  double storage_rate = 1e9;  // images/s that the storage gives at most
  double demand = 200;        // images/s that the consumer would take
  double jitter = 0.0;        // of the consumer's time per batch
  int batch = 32;

  double rate_of_one(int threads) const {
    const double running = threads * cpu_s / (cpu_s + storage_s) + others;
    const double share = std::min(1.0, cores / running);
    return 1.0 / (cpu_s / share + storage_s);
  }
  double supply(int threads) const {
    return std::min(threads * rate_of_one(threads), storage_rate);
  }
  int least_threads(int most) const {
    for (int threads = 1; threads < most; ++threads) {
      if (supply(threads) >= demand) return threads;
    }
    return most;
  }
};

struct PhaseResult {
  double au = 0;  // share of the time that the consumer was busy, once settled
  double threads = 0;
};

class Simulation {
 public:
  Simulation(const Model& start, const Controller::Settings& settings)
      : model(start), controller(settings) {}

  PhaseResult run(double seconds) {
    PhaseResult result;
    const double begin = now_;
    double settled_ticks = 0;
    while (now_ - begin < seconds) {
      const bool busy = tick();
      if (now_ - begin <= kSettled) continue;
      ++settled_ticks;
      result.au += busy;
      result.threads += controller.threads();
    }
    result.au /= settled_ticks;
    result.threads /= settled_ticks;
    return result;
  }

  Model model;
  Controller controller;
  std::vector<ControlMove> moves;

 private:
  void load() {
    const int threads = controller.threads();
    const double room = (controller.prefetch() + 1) * model.batch - stored_;
    const double possible = model.supply(threads) * kTick;
    const double loaded = std::clamp(room, 0.0, possible);
    const double busy_s = threads * kTick * loaded / possible;
    stored_ += loaded;
    images_ += loaded;
    window_.load_ns += static_cast<std::int64_t>(busy_s * kNsPerS);
    window_.load_cpu_ns += static_cast<std::int64_t>(loaded * model.cpu_s * kNsPerS);
  }

  /// Whether the consumer is busy in this tick.
  bool consume() {
    if (busy_left_ <= 0 && stored_ >= model.batch) {
      stored_ -= model.batch;
      std::uniform_real_distribution<double> around(1 - model.jitter, 1 + model.jitter);
      busy_left_ = model.batch / model.demand * around(random_);
      busy_total_ = busy_left_;
    }
    if (busy_left_ <= 0) {
      window_.consumer_wait_ns += static_cast<std::int64_t>(kTick * kNsPerS);
      return false;
    }
    busy_left_ -= kTick;
    if (busy_left_ <= 0) {
      window_.consumer_images += static_cast<std::uint64_t>(model.batch);
      window_.consumer_busy_ns += static_cast<std::int64_t>(busy_total_ * kNsPerS);
    }
    return true;
  }

  bool tick() {
    load();
    const bool busy = consume();
    now_ += kTick;
    if (now_ >= next_window_) decide();
    return busy;
  }

  void decide() {
    window_.end_ns = static_cast<std::int64_t>(now_ * kNsPerS);
    window_.length_ns = static_cast<std::int64_t>(kWindow * kNsPerS);
    window_.loaded_images = static_cast<std::uint64_t>(images_);
    window_.most_threads = model.cores;
    for (ControlMove& move : controller.step(window_)) moves.push_back(std::move(move));
    window_ = {};
    images_ = 0;
    next_window_ = now_ + kWindow;
  }

  double now_ = 0;
  double next_window_ = kWindow;
  double stored_ = 0;
  double images_ = 0;
  double busy_left_ = 0;
  double busy_total_ = 0;
  ControlWindow window_;
  std::mt19937 random_{7};
};

Controller::Settings settings_for(const Model& model) {
  Controller::Settings settings;
  settings.first_threads = model.cores;
  settings.first_prefetch = 2;
  settings.most_prefetch = 64;
  settings.batch_size = model.batch;
  return settings;
}

std::string all_moves(const Simulation& simulation) {
  std::string text;
  for (const ControlMove& move : simulation.moves) {
    text += std::to_string(static_cast<double>(move.time_ns) / kNsPerS) +
            " s: " + (move.what == ControlMove::What::kThreads ? "threads " : "prefetch ") +
            std::to_string(move.from) + " -> " + std::to_string(move.to) + ": " + move.reason +
            "\n";
  }
  return text;
}

struct Phase {
  double demand;
  int others;
};

/// Demand between 200 and 2,000 images/s and a hog that comes and goes.
const std::vector<Phase> kPhases = {{200, 0},  {2000, 0}, {2000, 2}, {600, 2},  {600, 0},
                                    {1990, 1}, {200, 1},  {1000, 0}, {2000, 4}, {200, 0}};

class ControllerPhases : public testing::TestWithParam<Model> {};

TEST_P(ControllerPhases, FeedsWithinSecondsWithFewThreads) {
  Simulation simulation(GetParam(), settings_for(GetParam()));
  for (const Phase& phase : kPhases) {
    simulation.model.demand = phase.demand;
    simulation.model.others = phase.others;
    const PhaseResult result = simulation.run(30);
    const Model& model = simulation.model;
    const double possible = std::min(1.0, model.supply(model.cores) / model.demand);
    const int least = model.least_threads(model.cores);
    EXPECT_GE(result.au, 0.9 * possible)
        << phase.demand << " images/s beside " << phase.others << " others\n"
        << all_moves(simulation);
    EXPECT_LE(result.threads, 1.25 * least)
        << phase.demand << " images/s beside " << phase.others << " others\n"
        << all_moves(simulation);
  }
  EXPECT_LT(simulation.moves.size(), 12 * kPhases.size()) << all_moves(simulation);
}

Model model(int cores, double cpu_ms, double jitter, int batch) {
  Model model;
  model.cores = cores;
  model.cpu_s = cpu_ms / 1000;
  model.jitter = jitter;
  model.batch = batch;
  return model;
}

INSTANTIATE_TEST_SUITE_P(Machines, ControllerPhases,
                         testing::Values(model(2, 0.9, 0.0, 32), model(2, 0.9, 0.3, 64),
                                         model(8, 2.2, 0.0, 32), model(8, 3.4, 0.2, 64),
                                         model(8, 2.2, 0.2, 256), model(16, 6.1, 0.3, 16),
                                         model(64, 20.0, 0.1, 64), model(8, 0.4, 0.5, 1)));

TEST(Controller, SaysWhyInNumbers) {
  Simulation simulation(model(8, 2.0, 0, 32), settings_for(model(8, 2.0, 0, 32)));
  simulation.run(6);
  ASSERT_FALSE(simulation.moves.empty());
  const ControlMove& first = simulation.moves.front();
  EXPECT_EQ(first.what, ControlMove::What::kThreads);
  EXPECT_EQ(first.from, 8);
  EXPECT_EQ(first.to, 1);
  EXPECT_THAT(first.reason, HasSubstr("takes 200 images/s"));
  EXPECT_THAT(first.reason, HasSubstr("one thread loads 500"));
  simulation.model.demand = 1800;
  simulation.run(6);
  const std::string text = all_moves(simulation);
  EXPECT_EQ(simulation.controller.threads(), 4) << text;
  EXPECT_THAT(text, HasSubstr("takes 1800 images/s"));
}

TEST(Controller, DoesNotAddWhatDoesNotHelp) {
  Model slow = model(16, 0.5, 0, 32);
  slow.storage_s = 0.0105;
  slow.storage_rate = 400;  // about 4 threads' worth
  slow.demand = 2000;
  Controller::Settings settings = settings_for(slow);
  settings.first_threads = 4;
  Simulation simulation(slow, settings);
  simulation.run(60);
  EXPECT_THAT(all_moves(simulation), HasSubstr("more do not help"));
  EXPECT_THAT(all_moves(simulation), HasSubstr("waits for storage"));
  EXPECT_LE(simulation.controller.threads(), 8);
  EXPECT_LT(simulation.moves.size(), 30U) << all_moves(simulation);
}

TEST(Controller, KeepsWhatWasAskedFor) {
  Controller::Settings settings = settings_for(Model());
  settings.threads = false;
  settings.prefetch = false;
  settings.first_threads = 3;
  settings.first_prefetch = 1;
  Simulation simulation(Model(), settings);
  simulation.model.demand = 2000;
  simulation.run(6);
  EXPECT_TRUE(simulation.moves.empty());
  EXPECT_EQ(simulation.controller.threads(), 3);
}

TEST(Controller, FollowsTheCpusThatItMayUse) {
  Simulation simulation(model(8, 3.5, 0, 32), settings_for(model(8, 3.5, 0, 32)));
  simulation.model.demand = 2000;
  EXPECT_GE(simulation.run(8).threads, 7);
  simulation.model.cores = 3;
  EXPECT_LE(simulation.run(8).threads, 3);
  EXPECT_THAT(all_moves(simulation), HasSubstr("may use 3 CPUs"));
  simulation.model.cores = 8;
  EXPECT_GE(simulation.run(8).threads, 7) << all_moves(simulation);
}

TEST(Controller, SurvivesWindowsInWhichNothingHappened) {
  Controller controller(settings_for(Model()));
  for (int i = 0; i < 100; ++i) {
    ControlWindow window;
    window.end_ns = i;
    window.most_threads = i % 3;
    controller.step(window);
    EXPECT_GE(controller.threads(), 1);
  }
}

}  // namespace
}  // namespace unstarve::feed
