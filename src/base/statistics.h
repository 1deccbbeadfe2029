#pragma once

#include <span>
#include <vector>

namespace unstarve {

// Of at least one value each.

double mean(std::span<const double> values);

/// The sum of the squares of their distances from the mean.
double squares_around_mean(std::span<const double> values);

/// Of an even number the mean of the two in the middle.
double median(std::vector<double> values);

/// Below which a share `q` (0..1) of the values lies; between two of them in proportion.
double quantile(std::vector<double> values, double q);

/// Below which 95 % of Student's distribution lies, for so many degrees of freedom (at least 1);
/// within 0.1 %.
double student_95(int degrees);

}  // namespace unstarve
