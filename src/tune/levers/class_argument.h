#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tune/levers/lever.h"

namespace unstarve::tune {

/// An argument of a class that scripts construct: `--arg batch=DataLoader.batch_size`. The hook
/// says what the class was constructed with, and gives it another value in a trial.
struct ClassArgument {
  std::string_view name;  // what it is to the tuner: "batch"
  std::string_view class_name;
  std::string_view argument;
};

/// What "DataLoader.batch_size" is; null: none that is known.
const ClassArgument* find_class_argument(std::string_view option);

/// "batch=DataLoader.batch_size, ...": all that are known.
std::string known_class_arguments();

/// Those that these levers change, as options and values.
std::vector<std::pair<std::string, std::string>> class_arguments_of(
    const std::vector<const Lever*>& levers);

/// UNSTARVE_TUNE's "arguments", as JSON: what the hook is to record, of the texts of `--arg`, and
/// the values that these levers give; empty where there is none.
std::string hook_arguments(const std::vector<std::string>& asked,
                           const std::vector<const Lever*>& levers);

}  // namespace unstarve::tune
