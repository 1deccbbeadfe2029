#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unstarve::recording {

/// When a process's GPU activity is recorded: the first stretch of it whole, since start-up differs
/// from the rest and most tries are short; the same of its steps, which may begin much later; then
/// a part of each period, since a training repeats itself and every record costs the job.
struct WindowPlan {
  bool off = false;
  bool always = false;
  /// From the first operation on: what a diagnosis needs, some hundred steps of 0.1 s.
  std::int64_t first_ns = 10'000'000'000;
  /// Several steps of most jobs.
  std::int64_t window_ns = 1'000'000'000;
  /// A tenth of the cost, and the GPU is looked at six times a minute.
  std::int64_t period_ns = 10'000'000'000;
  /// After 60 periods they are twice as long, and so again whenever the time since the start has
  /// doubled: some 350 windows in a week, so that a run of a month fits on the disk.
  bool thins_out = true;
  /// The stretch of steps is recorded whole too, and windows grow until they hold several steps.
  bool follows_steps = true;
  /// Why what the user asked for is not done; empty: it is.
  std::string ignored;

  bool operator==(const WindowPlan&) const = default;
};

/// What UNSTARVE_CUPTI asks for: "always", "off", or "ON_MS/PERIOD_MS" for windows of that length
/// from the start on. Anything else, nullptr too: the default.
WindowPlan read_window_plan(const char* variable);
/// In words, for the run.
std::string describe(const WindowPlan& plan);

/// Says when a window opens and closes. Times are CLOCK_MONOTONIC.
class WindowTimer {
 public:
  explicit WindowTimer(const WindowPlan& plan) : plan_(plan) {}

  /// The GPU's first operation was seen, which began at `start_ns`.
  void activity_began(std::int64_t start_ns);
  /// The job's first step ended at `end_ns`. Of several times the first counts.
  void steps_began(std::int64_t end_ns);
  /// How long a step takes in the mean. Windows grow by it and never shrink: one in which none lies
  /// whole tells little, and a few too many cost no more, since their periods grow alike.
  void step_takes(std::int64_t step_ns);
  /// Whether a window is to be open now. The answer changes by what it is told, and by itself at
  /// next_change_ns().
  bool wants_window(std::int64_t now_ns) const;
  /// When the answer changes; nothing: it does not, as things are.
  std::optional<std::int64_t> next_change_ns(std::int64_t now_ns) const;

 private:
  struct Place {
    bool open = true;
    std::optional<std::int64_t> until_ns;
  };
  Place place_at(std::int64_t now_ns) const;

  WindowPlan plan_;
  std::optional<std::int64_t> began_ns_;
  std::optional<std::int64_t> steps_began_ns_;
  std::int64_t growth_ = 1;
};

}  // namespace unstarve::recording
