#pragma once

#include <string>
#include <vector>

#include "base/reading.h"
#include "roofline/roofs/machine.h"

namespace unstarve::roofline {

/// Operations that one core of this CPU can do in a clock cycle at most, counted as a product's: a
/// multiplication and an addition are two. Of vendors' optimisation guides: two units that multiply
/// and add vectors of the widest kind (one and a half as wide on Zen 4), four times as many
/// operations for bfloat16 where there are tiles (AMX), twice as many with AVX512-BF16.
/// Absent: a CPU that is not known.
Reading<double> flops_per_cycle(const Machine& machine, const std::string& dtype);

/// Whether the CPU has instructions of its own for products of bfloat16.
bool has_bfloat16(const Machine& machine);

/// The clock that the kernel says the CPU reaches at most. Absent: it says none, as in most virtual
/// machines.
Reading<double> highest_clock_hz(const host::HostFiles& files);

/// What products do at most on the cores that may be used: cores x highest clock x operations a
/// cycle.  unit: flop/s.  Absent: the clock or the CPU is not known.
Reading<double> product_peak(const Machine& machine, const host::HostFiles& files,
                             const std::string& dtype);

}  // namespace unstarve::roofline
