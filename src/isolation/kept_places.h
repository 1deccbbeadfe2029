#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::isolation {

/// A variable of the environment; nullptr where it is not set.
using Variables = std::function<const char*(const char*)>;

/// Folders that are meant to be shared by all runs of a job, of those that are there: what
/// compilers, Hugging Face, torch and unstarve keep so that it is not made or fetched again.
std::vector<std::string> shared_caches(const Variables& variables);

/// The variables of compilers' caches that are nowhere yet: torch's and Triton's.
std::vector<std::string> missing_compiler_caches(const Variables& variables);

/// Sockets by name that are there now, out of /proc/net/unix: through a layer nobody could connect
/// to them. At most 256.
std::vector<std::string> open_sockets(std::string_view unix_table);

}  // namespace unstarve::isolation
