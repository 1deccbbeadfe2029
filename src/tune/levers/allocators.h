#pragma once

#include <map>
#include <string>
#include <vector>

namespace unstarve::tune {

/// Libraries that allocate memory in glibc's place, as far as this machine has them: "tcmalloc" and
/// "jemalloc", each with its file. `folders`: where libraries lie; empty: where Linux has them.
std::map<std::string, std::string> find_allocators(const std::vector<std::string>& folders = {});

}  // namespace unstarve::tune
