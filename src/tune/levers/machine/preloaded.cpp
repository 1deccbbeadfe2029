#include <fmt/format.h>

#include <cstdlib>

#include "tune/levers/family.h"

namespace unstarve::tune {

namespace {

/// `package`: Debian's and Ubuntu's, of an allocator that is not there.
Lever preloaded(const std::string& name, const std::string& package, const TunedJob& job) {
  Lever lever = hook_lever(name, Numerics::kExact, Eases::kHostMemory,
                           fmt::format("memory of tensors by {} in glibc's place", name), "");
  lever.settings = R"({"set": true})";
  lever.group = kAllocators;
  const auto found = job.allocators.find(name);
  if (found == job.allocators.end()) {
    lever.missing = fmt::format("lib{} is not installed ({} of Debian and Ubuntu)", name, package);
    return lever;
  }
  const char* const others = std::getenv("LD_PRELOAD");
  const bool more = others != nullptr && *others != 0;
  lever.environment = {{"LD_PRELOAD", more ? found->second + ":" + others : found->second}};
  lever.permanent = fmt::format("LD_PRELOAD={} in the environment of the command", found->second);
  return lever;
}

}  // namespace

LeverFamily preloaded_lever() {
  return {53, [](const TunedJob& job) {
            if (job.on_gpu()) return std::vector<Lever>();
            return std::vector{preloaded("tcmalloc", "libtcmalloc-minimal4", job),
                               preloaded("jemalloc", "libjemalloc2", job)};
          }};
}

}  // namespace unstarve::tune
