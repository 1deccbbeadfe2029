#pragma once

#include <string>

#include "diagnose/signals/signals.h"

namespace unstarve::diagnose {

// What rules say of unstarve's own loader, whose stages are recorded.

/// "unstarve's loader (2 threads): decode: 88 % of the time in its stages, ..."; empty where
/// nothing of it is recorded.
std::string stage_shares(const Signals& signals);

/// Below this share of the time in its stages a stage is not called the slow one.
inline constexpr double kSlowStage = 0.35;

}  // namespace unstarve::diagnose
