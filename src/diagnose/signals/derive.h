#pragma once

#include "diagnose/partition/partition.h"
#include "diagnose/signals/host_signals.h"
#include "diagnose/signals/signals.h"
#include "job/job_view.h"

namespace unstarve::diagnose {

/// Where signals come from. Nothing is owned; everything outlives the call.
struct SignalSources {
  SignalSources(const PartitionedJob& partitioned, const HostSignals& of_host)
      : job(partitioned.job),
        rank(partitioned.rank()),
        worst(partitioned.worst()),
        set_aside(partitioned.set_aside),
        host(of_host) {}

  const trace::Timeline& timeline() const { return job.timeline(); }
  /// Whether that process is the rank's, or whatever the recording is of.
  bool owns(std::int64_t process) const { return rank.process == 0 || process == rank.process; }

  const job::JobView& job;
  const job::Rank& rank;         // that signals are about: the worst device's
  const DevicePartition* worst;  // nullptr when no GPU activity was recorded, or it is set aside
  const std::optional<job::SetAside>& set_aside;
  const HostSignals& host;
};

/// Derives every signal that the sources can give; the others keep the reason why not.
Signals derive_signals(const SignalSources& sources);

/// Median of `values`, which it reorders; absent when there are none.
Reading<double> median_of(const std::vector<double>& values);

// The parts of derive_signals, each of which fills its own group of the struct.
void derive_partition_signals(const SignalSources& sources, Signals& out);
void derive_step_signals(const SignalSources& sources, Signals& out);
void derive_fetch_signals(const SignalSources& sources, Signals& out);
/// What looks at the Python of a loader's fetches found it at.
void derive_fetch_looks(const trace::Timeline& timeline, const job::LoaderUse& loader,
                        Signals& out);
/// Of worker processes: how much of their time they fetch, and what starting them took. Goes after
/// derive_fetch_signals().
void derive_worker_signals(const SignalSources& sources, Signals& out);
/// Of a job that loads with unstarve's engine; instead of what derive_fetch_signals() says, since
/// there are no fetches.
void derive_stage_signals(const SignalSources& sources, Signals& out);
void derive_device_signals(const SignalSources& sources, Signals& out);
/// What the training threads wait for the device for, over `steps` recorded ones.
void derive_sync_signals(const SignalSources& sources, double steps, Signals& out);
/// What the names of kernels tell of the work and of its units.
void derive_kernel_signals(const SignalSources& sources, Signals& out);
void derive_host_signals(const HostSignals& host, Signals& out);
/// What of `launch` follows from something else. Goes last.
void derive_consequences(Signals& out);

/// Whether it lies, at least in part, in the time that the partition is of.
bool lies_in_recording(const trace::Interval& when, const DevicePartition& partition);

/// The time that signals are about: the partition's span, else that of the steps (a live run's
/// first step left out), else everything.
trace::Interval signal_window(const SignalSources& sources);

}  // namespace unstarve::diagnose
