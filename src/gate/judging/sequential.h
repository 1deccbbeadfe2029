#pragma once

#include <span>
#include <vector>

namespace unstarve::gate {

/// For a test that is looked at again while its values come in: the p-value by which it may decide
/// at each look, so that it decides wrongly in a share `rate` of all sequences at most.
/// `information` says how much is known at each look, rising: the number of values, or the inverse
/// of the estimate's variance in any unit. The last is all that there may be.
///
/// The rate is spent by the cube of the information: little at the first looks, so that nearly as
/// small effects are seen at the last as by a test that looks once. Lan and DeMets: "Discrete
/// sequential boundaries for clinical trials" (1983); Kim and DeMets' power family (1987); the
/// recursion is that of Armitage, McPherson and Rowe (1969). It holds for normal values with a
/// known variance. For Student's t of trimmed means it is too generous by up to a third, which is
/// taken off (judging_test).
std::vector<double> sequential_levels(std::span<const double> information, double rate);

}  // namespace unstarve::gate
