#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "report/live/live_job.h"
#include "sink/sink.h"

namespace unstarve::sink {

/// Keeps what a run that goes on shows of its last minutes, a second at a time.
///
///   RecentJob recent;
///   follower->advance(recent);
///   const report::LiveJob job = recent.look(now_ns);
class RecentJob final : public Sink {
 public:
  /// What is older is forgotten: an hour, which is as far back as idleness is asked for.
  static constexpr std::int64_t kKeptSeconds = 3600;

  Status begins(const RunStart& run) override;
  Status takes(const Sample& sample) override;
  Status takes(const trace::StepRow& step) override;
  Status takes(const trace::WaitRow& wait) override;
  Status takes(const trace::SyncRow& sync) override;
  Status takes(const trace::HostWorkRow& work) override;
  Status ends(const RunEnd& end) override;

  /// The job at `now_ns` (CLOCK_MONOTONIC), with curves of `curve_s` seconds.
  report::LiveJob look(std::int64_t now_ns, std::int64_t curve_s) const;
  /// Whether for the last `idle_s` seconds no step, batch or checkpoint was seen and the job's GPUs
  /// did nothing, though it had trained before. Absent where no GPU's use was read.
  Reading<bool> is_idle(std::int64_t now_ns, std::int64_t idle_s) const;

 private:
  struct Mean {
    double sum = 0;
    std::int64_t count = 0;
    void add(double value) {
      sum += value;
      ++count;
    }
    Mean& operator+=(const Mean& other) {
      sum += other.sum;
      count += other.count;
      return *this;
    }
    Reading<double> value() const {
      if (count == 0) return WhyAbsent::kNotObserved;
      return sum / static_cast<double>(count);
    }
  };
  /// One second.
  struct Second {
    std::map<std::int64_t, Mean> gpu_utilization;  // by GPU
    Mean cpu_cores;
    std::map<std::int64_t, std::int64_t> trained_ns;  // time of steps, by process
    std::int64_t waiting_ns = 0;
    std::int64_t blocked_ns = 0;
    std::int64_t steps = 0;
    std::int64_t step_ns = 0;
    std::int64_t samples = 0;
  };

  std::int64_t second_of(std::int64_t t_ns) const { return (t_ns - run_.started_ns) / kSecondNs; }
  void forget();
  /// Adds the parts of `when` to the seconds in which they lie.
  template <class Add>
  void spread(const trace::Interval& when, const Add& add);
  void progressed(std::int64_t t_ns);
  template <class Value>
  std::vector<double> curve(std::int64_t last, std::int64_t seconds, const Value& value) const;
  void add_training(std::int64_t last, report::LiveJob& job) const;
  /// Of the last seconds up to `last`; `of`: of one second.
  template <class Of>
  Mean mean_now(std::int64_t last, const Of& of) const;
  void add_gpus(std::int64_t last, std::int64_t curve_s, report::LiveJob& job) const;
  report::LiveState state(std::int64_t now_ns, const report::LiveJob& job) const;
  Reading<double> latest(const std::string& metric, const std::string& subject) const;

  RunStart run_;
  std::map<std::int64_t, Second> seconds_;  // since the run began
  std::set<std::int64_t> stepping_;         // processes behind their first step
  std::map<std::pair<std::string, std::string>, Reading<double>> latest_;  // metric, subject
  std::int64_t steps_ = 0;
  std::int64_t progress_ns_ = 0;    // the last sign of it; 0: none
  std::int64_t step_ended_ns_ = 0;  // the last step
  std::int64_t saved_ns_ = 0;       // the last checkpoint or compilation
  std::int64_t ended_ns_ = 0;       // 0: it goes on
};

}  // namespace unstarve::sink
