#pragma once

#include "diagnose/partition/host_index.h"
#include "diagnose/partition/partition.h"
#include "diagnose/signals/host_signals.h"
#include "diagnose/signals/signals.h"
#include "trace/timeline.h"

namespace unstarve::diagnose {

/// Where signals come from. Nothing is owned; everything outlives the call.
struct SignalSources {
  const trace::Timeline& timeline;
  const HostIndex& index;
  const DevicePartition* worst = nullptr;  // nullptr when no GPU activity was recorded
  const HostSignals& host;
};

/// Derives every signal that the sources can give; the others keep the reason why not.
Signals derive_signals(const SignalSources& sources);

/// Median of `values`, which it reorders; absent when there are none.
Reading<double> median(std::vector<double>& values);

// The parts of derive_signals, each of which fills its own group of the struct.
void derive_partition_signals(const SignalSources& sources, Signals& out);
void derive_step_signals(const SignalSources& sources, Signals& out);
void derive_fetch_signals(const SignalSources& sources, Signals& out);
/// Of a job that loads with unstarve's engine; instead of what derive_fetch_signals() says, since
/// there are no fetches.
void derive_stage_signals(const SignalSources& sources, Signals& out);
void derive_device_signals(const SignalSources& sources, Signals& out);
void derive_host_signals(const HostSignals& host, Signals& out);

/// The time that signals are about: the partition's span, else that of the steps (a live run's
/// first step left out), else everything.
trace::Interval signal_window(const SignalSources& sources);

}  // namespace unstarve::diagnose
