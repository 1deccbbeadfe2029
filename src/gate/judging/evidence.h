#pragma once

#include <span>

namespace unstarve::gate {

/// Evidence that the mean of `values` is above 0, for a hypothesis that it is at most 0: a ratio of
/// likelihoods, 20 of which are seen by chance in at most one of 20 sequences, however often one
/// looks. It is that of Student's t under effects of 0.5 to 16 standard deviations, each as likely,
/// over no effect; so it does not depend on how much the values vary.
/// 1 for fewer than two values, or where all are the same and none says anything.
/// Perez-Ortiz, Lardy, de Heide, Grünwald: "E-statistics, group invariance and anytime-valid
/// testing" (2022). Normal values are assumed; heavier tails make it slower, not wrong
/// (evidence_test).
double evidence_above_zero(std::span<const double> values);

/// The same for the difference of two means, mean(b) - mean(a), of values with the same variance.
double evidence_of_difference(std::span<const double> a, std::span<const double> b);

/// The least effect, in standard deviations of one value, of which `values` of them give so much
/// evidence with a probability of 80 %.
double detectable_effect(int values, double evidence);

}  // namespace unstarve::gate
