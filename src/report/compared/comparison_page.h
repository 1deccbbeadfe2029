#pragma once

#include <string>
#include <vector>

#include "compare/comparison.h"

namespace unstarve::report {

/// One HTML file that needs nothing else: for each comparison the sentence, both sides' steps over
/// each other, where their time goes, the measures, and what is not the same.
/// `links`: HTML of a server that shows it among others.
std::string comparison_page(const std::vector<compare::Comparison>& comparisons,
                            const std::string& links = "");

}  // namespace unstarve::report
