#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tune/levers/lever.h"

namespace unstarve::tune {

/// An argument of the script that the tuner was told of: "batch=--batch-size".
struct Argument {
  std::string name;        // "batch"; "workers", "batch", "accumulation" are understood
  std::string option;      // "--batch-size"
  std::int64_t value = 0;  // as the command says it
};

/// How many samples a step holds: sizes are searched (batch/), not listed.
inline constexpr std::string_view kBatchArgument = "batch";

/// How many backward passes a step has: where the batch is an argument too, both are changed at
/// once so that a step holds as many samples.
inline constexpr std::string_view kAccumulationArgument = "accumulation";

/// The group of torch.compile's ways: their first step takes minutes.
inline constexpr const char* kCompilers = "compile";

/// Reads NAME=--OPTION and finds the option's value in the command. Errors: kInvalidArgument where
/// the form is another, or the command does not say the option with a number.
Result<Argument> read_argument(const std::string& text, const std::vector<std::string>& command);

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

/// Another value of an argument.
Lever argument_lever(const Argument& argument, std::int64_t value);

/// One lever of an argument's, and another beside it.
Lever both_levers(const Lever& argument, const Lever& beside);

/// The command with the levers' arguments in it.
std::vector<std::string> with_arguments(std::vector<std::string> command,
                                        const std::vector<const Lever*>& levers);

/// UNSTARVE_TUNE's "levers" for these, as JSON.
std::string hook_levers(const std::vector<const Lever*>& levers);

}  // namespace unstarve::tune
