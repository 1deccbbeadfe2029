#pragma once

#include <string>

#include "trace/timeline/stack_sample.h"

namespace unstarve::diagnose {

/// What a stack is at, told by the names of well-known functions: "saving a checkpoint",
/// "sleeping". Empty where nothing in it is known. Garbage collection runs in no function: it is
/// not told.
std::string what_runs(const trace::Stack& stack);

/// Whether it is in the training itself: a line of the job that calls a module of torch, backward()
/// or an optimizer.
bool trains(const trace::Stack& stack);

}  // namespace unstarve::diagnose
