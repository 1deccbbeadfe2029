#include "launch/emulation/emulated_job.h"

#include <signal.h>

#include <array>

#include "base/clock.h"
#include "base/units.h"

namespace unstarve::launch {

namespace {

constexpr std::int64_t kLookNs = 1'000'000'000;
constexpr double kPatienceS = 10;  // between one way to ask and the next, harder one

/// Asks a job to end, harder each time.
class Limit {
 public:
  explicit Limit(double limit_s) : next_s_(limit_s) {}

  bool was_reached() const { return asked_ > 0; }

  /// For the next look: when there is something to do, or a tick from now.
  std::int64_t wait_ns(double elapsed_s) const {
    if (next_s_ <= 0 || asked_ == kSignals.size()) return kLookNs;
    const double left_ns = (next_s_ - elapsed_s) * kNsPerS;
    if (left_ns >= static_cast<double>(kLookNs)) return kLookNs;
    return left_ns > 0 ? static_cast<std::int64_t>(left_ns) : 0;
  }

  void enforce(double elapsed_s, observe::JobProcess& job) {
    if (next_s_ <= 0 || elapsed_s < next_s_ || asked_ == kSignals.size()) return;
    // A signal that cannot be delivered means that the job has just ended: the next wait tells.
    static_cast<void>(job.request_stop(kSignals[asked_++]));
    next_s_ = elapsed_s + kPatienceS;
  }

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGKILL};
  double next_s_;
  std::size_t asked_ = 0;
};

}  // namespace

Result<EmulatedJob> run_emulated(Emulation& emulation, const EmulatedJobOptions& options) {
  const SteadyClock clock;
  EmulatedJob done;
  observe::JobOptions wanted;
  wanted.command = options.command;
  wanted.environment = emulation.environment();
  wanted.own_process_group = options.limit_s > 0;
  const std::int64_t started_ns = clock.now_ns();
  auto job = observe::JobProcess::start(wanted);
  if (!job) {
    done.not_started = job.error();
    return done;
  }
  // Of a folder that others cannot tell the owner of, more is left over than of others: no error.
  static_cast<void>(emulation.state().belongs_to(job->pid()));
  Limit limit(options.limit_s);
  while (true) {
    const auto elapsed_s = [&] {
      return static_cast<double>(clock.now_ns() - started_ns) / kNsPerS;
    };
    const auto end = job->wait_for(limit.wait_ns(elapsed_s()));
    if (!end) return forward_error(end);
    done.wall_s = elapsed_s();
    if (*end) {
      done.exit = **end;
      done.limit_reached = limit.was_reached();
      // What ignored the signal that ended the job is told by the next; mostly there is nothing.
      if (done.limit_reached) static_cast<void>(job->request_stop(SIGTERM));
      return done;
    }
    limit.enforce(done.wall_s, *job);
    if (options.on_tick) options.on_tick();
  }
}

}  // namespace unstarve::launch
