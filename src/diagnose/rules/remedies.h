#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/signals/signals.h"

namespace unstarve::diagnose {

// Remedies with the values for this job on this machine. One that cannot help here is not given.

/// More worker processes: as many as hide a batch's time behind the rest of the step, at least 2,
/// at most one per effective CPU. Nothing when the CPUs are busy already or as many run already.
std::optional<Remedy> more_workers(const Signals& signals);
/// The number of workers that would hide a batch's time, whatever the machine has.
Reading<double> needed_workers(const Signals& signals);
/// unstarve's loader with one thread per effective CPU.
Remedy unstarve_loader(const Signals& signals);
/// That loader with a cache that it fills; nothing unless the data is a folder of images.
std::optional<Remedy> unstarve_cache(const Signals& signals);
/// The same data packed into shards, for that loader; nothing unless it is a folder of images.
std::optional<Remedy> unstarve_shards(const Signals& signals);
/// The same, said in general where the folder is not known: for a job that unstarve's engine feeds.
Remedy pack_shards(const Signals& signals);
/// unstarve_loader(), unless the job has it, unstarve_cache() and unstarve_shards(), in this order:
/// what to do about waiting for input beside more workers.
std::vector<Remedy> native_loading(const Signals& signals);
std::optional<Remedy> fewer_workers(const Signals& signals);
/// More samples per step; nothing when the device's memory is known to be full.
std::optional<Remedy> larger_batch(const Signals& signals);
Remedy pin_memory(const Signals& signals);
/// A remedy without values.
Remedy advice(std::string id, std::string how);

/// At this use of its CPUs a job has none to spare.
inline constexpr double kCpusBusy = 0.9;

}  // namespace unstarve::diagnose
