#pragma once

#include <cstdint>

#include "emulated/process/gpu.h"

namespace unstarve::emulated {

/// Keeps the calling thread until `until_ns` (CLOCK_MONOTONIC), or for a moment where that is past,
/// by a rule other than kAuto: spinning, giving the processor to whoever wants it, or asleep.
void pass_time(std::int64_t until_ns, WaitRule rule);

/// What reading the clock once costs here, measured at the first call.
std::int64_t clock_read_ns();

/// Busy until then: what a call costs the host.
void spin_until(std::int64_t until_ns);

/// The driver's choice where a program has made none (cudaDeviceScheduleAuto): it spins while the
/// process has no more contexts than the machine has logical processors, else it yields.
WaitRule rule_for(WaitRule chosen, int contexts);

/// The calling thread waited so long for the device, which is no cost of the call that waited.
void note_waited(std::int64_t ns);

}  // namespace unstarve::emulated
