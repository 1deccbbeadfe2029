#include "predict/capacity/rank_model.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "predict/simulation.h"

namespace unstarve::predict {

namespace {

// Ranks go through the same costs in different places: a large batch does not meet all at once.
constexpr std::size_t kShiftOfRanks = 37;

enum class Doing { kNothing, kComputing, kBlocked };

struct RankWorker {
  Doing doing = Doing::kNothing;
  double cpu_left_s = 0;
  double blocked_left_s = 0;
  std::size_t batch = 0;
};

/// What a training thread does, in the order of a step.
enum class Phase { kAwaitsBatch, kFetches, kReads, kReceives, kLeads, kLaunches, kAwaitsDevice };

/// When things happened to one step of one rank.
struct StepTimes {
  double ready_s = 0;     // the device may begin
  double launched_s = 0;  // all of its work
};

struct Rank {
  Phase phase = Phase::kAwaitsBatch;
  double cpu_left_s = 0;      // of kFetches, kReceives, kLeads, kLaunches
  double blocked_left_s = 0;  // of kReads
  std::size_t step = 0;
  std::size_t launched = 0;  // steps
  std::size_t next_batch = 0;
  std::vector<bool> ready;
  std::vector<StepTimes> times;
  std::vector<RankWorker> workers;
};

class RankSimulation {
 public:
  RankSimulation(const RankModel& model, const std::vector<StepCost>& steps, std::size_t warm_up)
      : model_(model), steps_(steps), warm_up_(warm_up), device_end_s_(steps.size(), kNever) {
    ranks_.resize(static_cast<std::size_t>(std::max(model.ranks, 1)));
    for (Rank& rank : ranks_) {
      rank.ready.assign(steps.size(), false);
      rank.times.resize(steps.size());
      rank.workers.resize(static_cast<std::size_t>(std::max(model.loader.workers, 0)));
    }
  }

  RankOutcome run() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) settle(i);
    while (resolved_ < steps_.size()) advance();
    const double counted = static_cast<double>(steps_.size() - warm_up_);
    const double per_rank = counted * static_cast<double>(ranks_.size());
    RankOutcome out;
    const double span_s = device_end_s_.back() - from_s();
    out.step_s = span_s / counted;
    out.host_wall_s = host_wall_s_ / per_rank;
    if (fetch_cpu_s_ > 0) out.fetch_stretch = fetch_wall_s_ / fetch_cpu_s_;
    out.spin_cpu_s = spin_cpu_s_ / per_rank;
    out.busy_cores = span_s > 0 ? cpu_s_ / span_s : 0;
    return out;
  }

 private:
  const StepCost& cost(std::size_t rank, std::size_t step) const {
    return steps_[(step + rank * kShiftOfRanks) % steps_.size()];
  }
  double from_s() const { return warm_up_ == 0 ? 0 : device_end_s_[warm_up_ - 1]; }
  /// What happens now counts.
  bool counts() const { return resolved_ >= warm_up_; }

  static bool computes(const Rank& rank) {
    return rank.phase == Phase::kFetches || rank.phase == Phase::kReceives ||
           rank.phase == Phase::kLeads || rank.phase == Phase::kLaunches;
  }
  bool spins(const Rank& rank) const {
    return model_.spins && rank.phase == Phase::kAwaitsDevice && rank.step < steps_.size();
  }

  /// When the device has done what the rank waits for at the end of a step; kNever: others have
  /// not launched it yet.
  double awaited_s(std::size_t index) const {
    const Rank& rank = ranks_[index];
    if (rank.step >= steps_.size()) return kNever;
    if (cost(index, rank.step).syncs) return device_end_s_[rank.step];
    if (rank.step < kStepsAheadOfDevice) return now_s_;
    return device_end_s_[rank.step - kStepsAheadOfDevice];
  }

  /// Takes a rank through all phases that end now.
  void settle(std::size_t index) {
    Rank& rank = ranks_[index];
    start_idle_workers(index);
    while (rank.step < steps_.size() && ends_now(index)) {
      enter_next(index);
      start_idle_workers(index);
    }
  }

  bool ends_now(std::size_t index) const {
    const Rank& rank = ranks_[index];
    if (rank.phase == Phase::kAwaitsBatch) return rank.workers.empty() || rank.ready[rank.step];
    if (rank.phase == Phase::kReads) return rank.blocked_left_s <= kDone;
    if (rank.phase == Phase::kAwaitsDevice) return awaited_s(index) <= now_s_ + kDone;
    return rank.cpu_left_s <= kDone;
  }

  void enter_next(std::size_t index) {
    Rank& rank = ranks_[index];
    const StepCost& now = cost(index, rank.step);
    StepTimes& times = rank.times[rank.step];
    switch (rank.phase) {
      case Phase::kAwaitsBatch:
        if (!rank.workers.empty()) return begin(rank, Phase::kReceives, model_.loader.receive_s);
        return begin(rank, Phase::kFetches, now.fetch_cpu_s * model_.loader.fetch_scale);
      case Phase::kFetches:
        rank.blocked_left_s = now.fetch_blocked_s;
        return begin(rank, Phase::kReads, 0);
      case Phase::kReads: return begin(rank, Phase::kReceives, 0);
      case Phase::kReceives: return begin(rank, Phase::kLeads, now.lead_s + now.staging_s);
      case Phase::kLeads: times.ready_s = now_s_; return begin(rank, Phase::kLaunches, now.host_s);
      case Phase::kLaunches:
        times.launched_s = now_s_;
        ++rank.launched;
        resolve();
        return begin(rank, Phase::kAwaitsDevice, 0);
      case Phase::kAwaitsDevice: ++rank.step; return begin(rank, Phase::kAwaitsBatch, 0);
    }
  }
  static void begin(Rank& rank, Phase phase, double cpu_s) {
    rank.phase = phase;
    rank.cpu_left_s = cpu_s;
  }

  /// Steps that all ranks have launched get their end.
  void resolve() {
    const auto launched = [&](const Rank& rank) { return rank.launched > resolved_; };
    while (resolved_ < steps_.size() && std::all_of(ranks_.begin(), ranks_.end(), launched)) {
      end_step(resolved_);
      ++resolved_;
    }
  }

  void end_step(std::size_t step) {
    const double free_s = step == 0 ? 0 : device_end_s_[step - 1];
    double last_s = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const StepTimes& times = ranks_[i].times[step];
      const double start_s = std::max(free_s, times.ready_s);
      last_s = std::max({last_s, start_s + cost(i, step).device_s, times.launched_s});
    }
    device_end_s_[step] = last_s + model_.exchange_s;
  }

  void start_idle_workers(std::size_t index) {
    Rank& rank = ranks_[index];
    const std::size_t taken = rank.step + (rank.phase == Phase::kAwaitsBatch ? 0 : 1);
    const auto ahead = static_cast<std::size_t>(std::max(model_.loader.batches_ahead, 1));
    for (RankWorker& worker : rank.workers) {
      const bool may = rank.next_batch < std::min(steps_.size(), taken + ahead);
      if (worker.doing != Doing::kNothing || !may) continue;
      const StepCost& batch = cost(index, rank.next_batch);
      worker = {Doing::kComputing, std::max(batch.fetch_cpu_s * model_.loader.fetch_scale, kDone),
                batch.fetch_blocked_s, rank.next_batch};
      ++rank.next_batch;
    }
  }

  double rate_per_thread(double runnable) const {
    const double cores = std::max(model_.cpu.cores, 0.01);
    const double used = std::min(std::max(runnable, 1.0), cores);
    const double own_cores = std::min(std::max(runnable, 1.0), std::max(cores, 1.0));
    const double crowded = 1 - model_.crowding_loss * (1 - own_cores / std::max(runnable, 1.0));
    const double capacity = used <= 1 ? used : 1 + (used - 1) * model_.cpu.parallel_efficiency;
    return std::min(1.0, crowded * capacity / std::max(runnable, 1.0));
  }

  double runnable() const {
    double threads = 0;
    for (const Rank& rank : ranks_) {
      threads += computes(rank) || spins(rank) ? 1 : 0;
      for (const RankWorker& worker : rank.workers) threads += worker.doing == Doing::kComputing;
    }
    return threads;
  }

  /// Moves to the next event.
  void advance() {
    const double threads = runnable();
    const double rate = rate_per_thread(threads);
    double dt = kNever;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const Rank& rank = ranks_[i];
      if (computes(rank)) dt = std::min(dt, rank.cpu_left_s / rate);
      if (rank.phase == Phase::kReads) dt = std::min(dt, rank.blocked_left_s);
      if (rank.phase == Phase::kAwaitsDevice) dt = std::min(dt, awaited_s(i) - now_s_);
      for (const RankWorker& worker : rank.workers) {
        if (worker.doing == Doing::kComputing) dt = std::min(dt, worker.cpu_left_s / rate);
        if (worker.doing == Doing::kBlocked) dt = std::min(dt, worker.blocked_left_s);
      }
    }
    UNSTARVE_CHECK(dt < kNever, "some rank must have work while steps are awaited");
    pass(std::max(dt, 0.0), rate, threads);
    for (std::size_t i = 0; i < ranks_.size(); ++i) settle(i);
  }

  void pass(double dt, double rate, double threads) {
    now_s_ += dt;
    if (counts()) cpu_s_ += dt * rate * threads;
    for (Rank& rank : ranks_) {
      if (computes(rank)) {
        const bool own = rank.phase == Phase::kLeads || rank.phase == Phase::kLaunches;
        if (own && counts()) host_wall_s_ += dt;
        if (rank.phase == Phase::kFetches) count_fetching(dt, rate);
        rank.cpu_left_s -= dt * rate;
      }
      if (spins(rank) && counts()) spin_cpu_s_ += dt * rate;
      if (rank.phase == Phase::kReads) rank.blocked_left_s -= dt;
      for (RankWorker& worker : rank.workers) progress(rank, worker, dt, rate);
    }
  }

  void count_fetching(double dt, double rate) {
    fetch_wall_s_ += dt;
    fetch_cpu_s_ += dt * rate;
  }

  void progress(Rank& rank, RankWorker& worker, double dt, double rate) {
    if (worker.doing == Doing::kComputing) {
      count_fetching(dt, rate);
      worker.cpu_left_s -= dt * rate;
      if (worker.cpu_left_s <= kDone) worker.doing = Doing::kBlocked;
    } else if (worker.doing == Doing::kBlocked) {
      worker.blocked_left_s -= dt;
    }
    if (worker.doing == Doing::kBlocked && worker.blocked_left_s <= kDone) {
      rank.ready[worker.batch] = true;
      worker.doing = Doing::kNothing;
    }
  }

  const RankModel& model_;
  const std::vector<StepCost>& steps_;
  const std::size_t warm_up_;
  std::vector<double> device_end_s_;  // of all ranks, by step; kNever: not known yet
  std::vector<Rank> ranks_;
  std::size_t resolved_ = 0;  // steps whose end is known
  double now_s_ = 0;
  double host_wall_s_ = 0;
  double fetch_wall_s_ = 0;  // while fetches compute
  double fetch_cpu_s_ = 0;
  double spin_cpu_s_ = 0;
  double cpu_s_ = 0;
};

}  // namespace

RankOutcome simulate_ranks(const RankModel& model, const std::vector<StepCost>& steps,
                           std::size_t warm_up_steps) {
  UNSTARVE_CHECK(steps.size() > warm_up_steps, "a simulation needs steps behind its warm-up");
  return RankSimulation(model, steps, warm_up_steps).run();
}

}  // namespace unstarve::predict
