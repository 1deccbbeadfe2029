#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tune/levers/lever.h"

namespace unstarve::tune {

/// An argument that the tuner was told of: "batch=--batch-size" of the script's command line, or
/// "batch=DataLoader.batch_size" of a class that the script constructs (class_argument.h).
struct Argument {
  std::string name;        // "batch"; "workers", "batch", "accumulation" are understood
  std::string option;      // "--batch-size", "DataLoader.batch_size"
  std::int64_t value = 0;  // as the command says it; of a class as the first run constructed it
};

/// How many samples a step holds: sizes are searched (batch/), not listed.
inline constexpr std::string_view kBatchArgument = "batch";

/// How many backward passes a step has: where the batch is an argument too, both are changed at
/// once so that a step holds as many samples.
inline constexpr std::string_view kAccumulationArgument = "accumulation";

/// How many worker processes a loader has.
inline constexpr std::string_view kWorkersArgument = "workers";

/// Reads NAME=--OPTION and finds the option's value in the command, or NAME=Class.argument, whose
/// value nobody knows yet. Errors: kInvalidArgument where the form is another, the command does not
/// say the option with a number, or the class has no such argument.
Result<Argument> read_argument(const std::string& text, const std::vector<std::string>& command);

/// Another value of an argument.
Lever argument_lever(const Argument& argument, std::int64_t value);

/// One lever of an argument's, and another beside it.
Lever both_levers(const Lever& argument, const Lever& beside);

/// The command with the levers' arguments in it, but for those of classes.
std::vector<std::string> with_arguments(std::vector<std::string> command,
                                        const std::vector<const Lever*>& levers);

}  // namespace unstarve::tune
