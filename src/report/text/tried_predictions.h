#pragma once

#include <string>
#include <vector>

#include "predict/track_record.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

/// Every prediction that was tried, newest run first, and how each remedy's did in all.
std::string render_tried_predictions(const std::vector<predict::TriedPrediction>& tried,
                                     const TextOptions& options);

}  // namespace unstarve::report
