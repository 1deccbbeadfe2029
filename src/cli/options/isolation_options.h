#pragma once

#include <vector>

#include "cli/options/command_line.h"
#include "isolation/isolation.h"

namespace unstarve::cli {

/// --in-place and --online, of every command that makes trials.
std::vector<Option> add_isolation_options(Command& command, isolation::IsolationWish& wish);

/// Says on stderr how the job's files are kept from its trials.
void say_isolated(const isolation::Isolation& by);

}  // namespace unstarve::cli
