#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tune/levers/argument.h"
#include "tune/levers/lever.h"

namespace unstarve::tune {

/// The group of torch.compile's ways: their first step takes minutes.
inline constexpr const char* kCompilers = "compile";

/// What the catalogue is made for.
struct TunedJob {
  std::string device;        // "cpu", "cuda"; as the hook saw it
  std::int64_t threads = 0;  // of torch, in the job as it is
  std::int64_t cpus = 1;     // that it may use
  std::int64_t interop_threads = 0;
  // Libraries of this machine that allocate memory in glibc's place: names, and where they are.
  std::map<std::string, std::string> allocators = {};
  std::vector<std::string> allowed = {};  // levers that are tried only if somebody allows it
};

/// Every lever that could be tried, in the order in which they are.
std::vector<Lever> levers_for(const TunedJob& job, const std::vector<Argument>& arguments);

/// UNSTARVE_TUNE's "levers" for these, as JSON.
std::string hook_levers(const std::vector<const Lever*>& levers);

}  // namespace unstarve::tune
