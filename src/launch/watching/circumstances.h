#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/host_files.h"
#include "trace/run_writer.h"

namespace unstarve::launch {

/// Variables that change how a job runs, by name; those with secrets in them are left out.
/// `block`: a process's environment, "NAME=VALUE" each.
std::vector<std::pair<std::string, std::string>> telling_variables(
    const std::vector<std::string>& block);

/// Writes down what a run can be told apart by later: the script that `command` runs, as it is now,
/// variables of the environment, the machine, and its roofs that are kept (docs/formats/run.md).
void note_circumstances(const std::vector<std::string>& command, const host::HostFiles& files,
                        trace::RunWriter& writer);

}  // namespace unstarve::launch
