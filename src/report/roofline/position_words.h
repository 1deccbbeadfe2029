#pragma once

#include <string>
#include <vector>

#include "roofline/position/position.h"

namespace unstarve::report {

/// "312 TFLOP/s", "25.1 GB/s", "310 k/s", "1204 images/s", "21.4 us": a roof's value.
std::string rate_text(double value, const std::string& unit);
/// "480 GFLOP", "38.5 MB", "212 launches", "0.4 CPU s": what a step does of something.
std::string amount_text(const roofline::Term& term);
/// "312 TFLOP/s (specification)"
std::string roof_text(const roofline::UsedRoof& roof);
/// "compute", "memory", "copies to the GPU", "launches", "loading"
std::string term_words(const std::string& name);

/// Terms that are absent for the same reason, in one line.
struct AbsentTerms {
  std::vector<std::string> names;
  std::string why;
};
std::vector<AbsentTerms> absent_terms(const roofline::Position& position);

/// "A step takes 12.3 ms, at least 3.2 ms of it for compute.": a sentence.
std::string bound_sentence(const roofline::Position& position);
/// "MFU 24.1 % of the specification, 31.0 % of measured products." or why it is not known.
std::string utilization_sentence(const roofline::Position& position);
/// "The job: 12.3 TFLOP/s at 45 FLOP a byte", or why that is not known.
std::string point_words(const roofline::Position& position);

}  // namespace unstarve::report
