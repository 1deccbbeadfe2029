#pragma once

#include <cstddef>
#include <span>

namespace unstarve::gate {

/// The share of Student's distribution with so many degrees of freedom (at least 1) above `t`.
double student_above(double t, double freedom);

/// The t above which so much of it lies; `share` is above 0 and at most one half.
double student_bound(double share, double freedom);

/// The mean without the fifth of the values at either end, since one run in ten or twenty hits a
/// moment in which a machine is slow; of fewer than eight, where each counts, the mean of all. Its
/// error knows of those that are left out. Yuen: "The two-sample trimmed t for unequal population
/// variances" (1974).
struct TrimmedMean {
  double mean = 0;
  double error = 0;    // standard deviation of the mean
  double freedom = 0;  // of Student's t; 0: of a single value nothing is known
};
TrimmedMean trimmed_mean(std::span<const double> values);

/// How many values of `count` it keeps.
std::size_t kept_of(std::size_t count);

/// The probability (p-value) that values like these, or a larger mean, come about where their mean
/// is 0: by Student's t of the trimmed mean, so that it does not depend on how much they vary. 1
/// for fewer than two; 0.5 where all are 0.
double p_above_zero(std::span<const double> values);

/// The same for the difference of two trimmed means, that of b less that of a.
double p_of_difference(std::span<const double> a, std::span<const double> b);

}  // namespace unstarve::gate
