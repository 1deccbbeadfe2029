#pragma once

#include <string>
#include <vector>

#include "report/html/scale.h"
#include "report/model/report_model.h"

namespace unstarve::report {

/// The units of everything that is drawn over time, stretched to its place by the browser. What
/// came before the training has negative ones, which nobody sees until the view reaches there.
inline constexpr double kPlotWidth = 1000;
inline constexpr double kPlotHeight = 100;
/// Farther than any start-up, or whatever follows the training, reaches.
inline constexpr double kFarLeft = -1e6;
inline constexpr double kFarRight = 1e6;

/// Of a time, which may lie outside of the scale.
double plot_x(const Scale& time, double t_s);

/// The grey ground of what is not the training.
std::string start_up_svg(const Scale& time);

/// The shares of each moment above each other, aligned with the curves. `from_s`: where the scale
/// has its zero. Empty where there are none.
std::string shares_html(const diagnose::PartitionOverTime& shares, double from_s,
                        const Scale& time);

/// A row for each track, aligned with the curves. Times are those of the scale.
std::string tracks_html(const std::vector<Track>& tracks, const Scale& time);

}  // namespace unstarve::report
