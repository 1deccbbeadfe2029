#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/host_files.h"

namespace unstarve::host {

/// The words of a process's command; none where it has ended, or may not be asked.
std::vector<std::string> command_of(std::int64_t pid, const HostFiles& files);

/// The name of the user who runs a process, or the user's number where that has no name; empty: not
/// known.
std::string user_of(std::int64_t pid, const HostFiles& files);

/// Whether processes have the machine's numbers here, as drivers tell them. A container has its
/// own, by which another process would be named.
bool has_machine_numbers(const HostFiles& files);

}  // namespace unstarve::host
