#include "predict/pipeline_model.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"
#include "predict/simulation.h"

namespace unstarve::predict {

namespace {

enum class Activity { kIdle, kComputing, kBlocked };

/// A fetching thread and the batch it works on: it is blocked, computes, and is blocked again.
struct Worker {
  Activity activity = Activity::kIdle;
  double cpu_left_s = 0;
  double blocked_left_s = 0;
  double blocked_after_s = 0;
  std::size_t batch = 0;
};

class Simulation {
 public:
  Simulation(const PipelineModel& model, const std::vector<StepCost>& steps)
      : model_(model),
        steps_(steps),
        ready_(steps.size(), false),
        device_end_s_(steps.size(), 0),
        workers_(static_cast<std::size_t>(std::max(model.loader.workers, 0))) {}

  /// Times at which each step ended for the training thread.
  std::vector<double> run() {
    std::vector<double> ends_s;
    ends_s.reserve(steps_.size());
    for (step_ = 0; step_ < steps_.size(); ++step_) {
      take_batch();
      launch();
      wait_for_device();
      ends_s.push_back(now_s_);
    }
    return ends_s;
  }

 private:
  const StepCost& cost() const { return steps_[step_]; }

  void take_batch() {
    if (workers_.empty()) {
      compute(cost().fetch_cpu_s * model_.loader.fetch_scale);
      advance_to(now_s_ + cost().fetch_blocked_s);
      return;
    }
    start_idle_workers();
    while (!ready_[step_]) advance(kNever, std::nullopt);
    ++taken_;
    start_idle_workers();
    compute(model_.loader.receive_s);
  }

  void launch() {
    const double slowdown = workers_.empty() ? 1.0 : model_.cpu.host_slowdown;
    compute((cost().lead_s + cost().staging_s) * slowdown);
    const double previous_s = step_ == 0 ? 0 : device_end_s_[step_ - 1];
    const double start_s = std::max(previous_s, now_s_);
    compute(cost().host_s * slowdown);
    // Execution overlaps the launching, and cannot end before the last launch.
    device_end_s_[step_] = std::max(start_s + cost().device_s, now_s_);
  }

  void wait_for_device() {
    double until_s = now_s_;
    if (cost().syncs) until_s = device_end_s_[step_];
    if (step_ >= kStepsAheadOfDevice) {
      until_s = std::max(until_s, device_end_s_[step_ - kStepsAheadOfDevice]);
    }
    advance_to(until_s, model_.cpu.device_wait_cpu);
  }

  /// The training thread works for `cpu_s` seconds of CPU, sharing cores with the workers.
  void compute(double cpu_s) {
    std::optional<double> left_s = cpu_s;
    while (*left_s > kDone) advance(kNever, left_s);
  }

  /// The training thread waits until then, and takes so much of a CPU meanwhile. Spinning gets
  /// nothing done: where it has to share its core, the wait is no longer for it. Threads that
  /// mostly sleep come first when they wake (a fair scheduler owes them), so it leaves them theirs.
  void advance_to(double until_s, double waiting_cpu = 0) {
    std::optional<double> waiting;
    while (now_s_ + kDone < until_s) advance(until_s, waiting, waiting_cpu);
  }

  /// Moves to the next event, at the latest to `limit_s`. `main_left_s`: CPU work of the training
  /// thread, reduced by what it got done; none when it is waiting, on so much of a CPU.
  void advance(double limit_s, std::optional<double>& main_left_s, double waiting_cpu = 0) {
    const double rate =
        rate_per_thread(main_left_s ? 1 : std::min(waiting_cpu, left_by_sleepers()));
    double dt = limit_s - now_s_;
    if (main_left_s) dt = std::min(dt, *main_left_s / rate);
    for (const Worker& worker : workers_) {
      if (worker.activity == Activity::kComputing) dt = std::min(dt, worker.cpu_left_s / rate);
      if (worker.activity == Activity::kBlocked) dt = std::min(dt, worker.blocked_left_s);
    }
    UNSTARVE_CHECK(dt < kNever, "somebody must have work while a batch is awaited");
    dt = std::max(dt, 0.0);
    now_s_ += dt;
    if (main_left_s) *main_left_s -= dt * rate;
    for (Worker& worker : workers_) progress(worker, dt, rate);
    start_idle_workers();
  }
  void advance(double limit_s, std::nullopt_t) {
    std::optional<double> waiting;
    advance(limit_s, waiting);
  }

  void progress(Worker& worker, double dt, double rate) {
    if (worker.activity == Activity::kComputing) {
      worker.cpu_left_s -= dt * rate;
      if (worker.cpu_left_s <= kDone) {
        worker.activity = Activity::kBlocked;
        worker.blocked_left_s = worker.blocked_after_s;
      }
    } else if (worker.activity == Activity::kBlocked) {
      worker.blocked_left_s -= dt;
    }
    if (worker.activity != Activity::kBlocked || worker.blocked_left_s > kDone) return;
    if (worker.cpu_left_s > kDone) {
      worker.activity = Activity::kComputing;
    } else {
      ready_[worker.batch] = true;
      worker.activity = Activity::kIdle;
    }
  }

  void start_idle_workers() {
    const std::size_t allowed = taken_ + 1 + static_cast<std::size_t>(model_.loader.batches_ahead);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (workers_[i].activity != Activity::kIdle || next_batch_ >= steps_.size() ||
          next_batch_ >= allowed) {
        continue;
      }
      start(i, steps_[next_batch_]);
    }
  }

  /// A fetch computes and waits in turns, sample by sample, at other times than the others do. Here
  /// each worker computes at another place of its wait, lest all of them do so at once, again and
  /// again.
  void start(std::size_t i, const StepCost& batch) {
    const double blocked_first_s =
        batch.fetch_blocked_s * static_cast<double>(i) / static_cast<double>(workers_.size());
    workers_[i] = {blocked_first_s > kDone ? Activity::kBlocked : Activity::kComputing,
                   std::max(batch.fetch_cpu_s * model_.loader.fetch_scale, 2 * kDone),
                   blocked_first_s, batch.fetch_blocked_s - blocked_first_s, next_batch_};
    ++next_batch_;
  }

  double computing_workers() const {
    double computing = 0;
    for (const Worker& worker : workers_) computing += worker.activity == Activity::kComputing;
    return computing;
  }

  /// Cores that workers which wait more than they compute leave to a thread that spins; without
  /// bound where they compute more.
  double left_by_sleepers() const {
    const double cpu_s = cost().fetch_cpu_s * model_.loader.fetch_scale;
    if (cost().fetch_blocked_s <= cpu_s) return kNever;
    return std::max(0.0, model_.cpu.cores - computing_workers());
  }

  /// `main_cpu`: of the training thread, 0..1.
  double rate_per_thread(double main_cpu) const {
    const double runnable = main_cpu + computing_workers();
    if (runnable <= 1) return 1;
    const double used = std::min(runnable, std::max(model_.cpu.cores, 1.0));
    const double capacity = 1 + (used - 1) * model_.cpu.parallel_efficiency;
    return capacity / runnable;
  }

  const PipelineModel& model_;
  const std::vector<StepCost>& steps_;
  std::vector<bool> ready_;
  std::vector<double> device_end_s_;
  std::vector<Worker> workers_;
  double now_s_ = 0;
  std::size_t step_ = 0;
  std::size_t next_batch_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace

double simulate_mean_step_s(const PipelineModel& model, const std::vector<StepCost>& steps,
                            std::size_t warm_up_steps) {
  UNSTARVE_CHECK(steps.size() > warm_up_steps, "a mean needs a step after the warm-up");
  const std::vector<double> ends_s = Simulation(model, steps).run();
  const double from_s = warm_up_steps == 0 ? 0 : ends_s[warm_up_steps - 1];
  return (ends_s.back() - from_s) / static_cast<double>(steps.size() - warm_up_steps);
}

}  // namespace unstarve::predict
