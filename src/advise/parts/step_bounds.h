#pragma once

#include <optional>

#include "advise/parts/line_time.h"
#include "base/reading.h"
#include "diagnose/signals/signals.h"
#include "predict/resampling.h"

namespace unstarve::advise {

// What a step takes even where nothing of it idles the device any more, in shares of a step now.

/// The training thread, without its waiting for the device.
Reading<double> host_share(const diagnose::Signals& signals);

/// The same without the code at `line`, where that is known.
Reading<double> host_share_without(const diagnose::Signals& signals,
                                   const std::optional<LineTime>& line);

/// The device, with all that it does now.
double device_share(const diagnose::Signals& signals);

/// The loader, with all of its workers at work all of the time. 0 where it has none: then the
/// training thread loads, or where that is not known.
double loader_share(const diagnose::Signals& signals);

/// A job is not the same twice: what remains of a step may be so much less or more of itself.
inline constexpr double kOtherRun = 0.07;
/// At the least so much, whatever is changed: what gains less cannot be told from nothing.
inline constexpr double kLeastOtherRun = 0.03;

/// Between `least` and `most` of it goes away.
predict::Range part_of(double share, double least, double most);

}  // namespace unstarve::advise
