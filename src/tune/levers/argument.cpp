#include "tune/levers/argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "tune/levers/class_argument.h"

namespace unstarve::tune {

namespace {

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0) return std::nullopt;
  return value;
}

/// Where the option's value stands, and how many letters of that word come before it.
struct Place {
  std::size_t word = 0;
  std::size_t from = 0;
};

std::optional<Place> find_value(const std::vector<std::string>& command,
                                const std::string& option) {
  std::optional<Place> found;  // the last one counts, as with argparse
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == option && i + 1 < command.size()) found = Place{i + 1, 0};
    if (command[i].starts_with(option + "=")) found = Place{i, option.size() + 1};
  }
  return found;
}

/// "DataLoader.batch", and not "train.py" or "./x": the class is spelled as classes are.
bool is_like_class_argument(const std::string& option) {
  const bool is_class = !option.empty() && option.front() >= 'A' && option.front() <= 'Z';
  return is_class && option.find('.') != std::string::npos;
}

Result<Argument> read_class_argument(const std::string& text, Argument argument) {
  const ClassArgument* const known = find_class_argument(argument.option);
  if (known == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                "--arg {}: of classes these arguments are known: {}; an option of the script "
                "stands in its command",
                text, known_class_arguments());
  }
  if (known->name != argument.name) {
    return fail(ErrorCode::kInvalidArgument, "--arg {}: write {}={}", text, known->name,
                argument.option);
  }
  return argument;
}

/// Where a job runs on several GPUs at once, a trainer's loader holds the batches of all.
std::map<std::string, std::string> trainers_settings(const Argument& argument, std::int64_t value) {
  const auto is = [value](const char* name) { return fmt::format("{}={}", name, value); };
  if (argument.name == kWorkersArgument) return {{"transformers", is("dataloader_num_workers")}};
  if (argument.name == kAccumulationArgument) {
    return {{"transformers", is("gradient_accumulation_steps")},
            {"lightning", is("accumulate_grad_batches")}};
  }
  if (argument.name == kBatchArgument && argument.option != "DataLoader.batch_size") {
    return {{"transformers", is("per_device_train_batch_size")}};
  }
  return {};
}

}  // namespace

Lever argument_lever(const Argument& argument, std::int64_t value) {
  Lever lever;
  lever.id = fmt::format("{}={}", argument.name, value);
  lever.arguments = {{argument.option, std::to_string(value)}};
  lever.group = argument.name;
  const bool workers = argument.name == kWorkersArgument;
  lever.numerics = workers ? Numerics::kRedrawn : Numerics::kTrajectory;
  if (workers) lever.eases = Eases::kLoading;
  lever.by_trainer = trainers_settings(argument, value);
  lever.what = fmt::format("{} {} in the place of {}", argument.option, value, argument.value);
  if (const ClassArgument* const known = find_class_argument(argument.option)) {
    lever.permanent = fmt::format("{}={} in {}(...)", known->argument, value, known->class_name);
  } else {
    lever.permanent = fmt::format("{} {} on the command line", argument.option, value);
  }
  return lever;
}

Lever both_levers(const Lever& argument, const Lever& beside) {
  Lever lever = argument;
  lever.id += " " + beside.id;
  lever.hook = beside.hook;
  lever.settings = beside.settings;
  lever.written = beside.written;
  for (const auto& [trainer, setting] : beside.by_trainer) {
    std::string& both = lever.by_trainer[trainer];
    both += (both.empty() ? "" : ", ") + setting;
  }
  lever.what += "; " + beside.what;
  lever.permanent += "; " + beside.permanent;
  lever.arguments.insert(lever.arguments.end(), beside.arguments.begin(), beside.arguments.end());
  lever.environment.insert(lever.environment.end(), beside.environment.begin(),
                           beside.environment.end());
  return lever;
}

Result<Argument> read_argument(const std::string& text, const std::vector<std::string>& command) {
  const std::size_t equals = text.find('=');
  const bool named = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (!named ||
      !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), plain)) {
    return fail(ErrorCode::kInvalidArgument,
                "--arg takes NAME=--OPTION or NAME=Class.argument, as in batch=--batch-size or "
                "batch=DataLoader.batch_size, and got '{}'",
                text);
  }
  Argument argument{text.substr(0, equals), text.substr(equals + 1), 0};
  const auto place = find_value(command, argument.option);
  const bool of_class = find_class_argument(argument.option) != nullptr ||
                        (!place && is_like_class_argument(argument.option));
  if (of_class) return read_class_argument(text, std::move(argument));
  const auto value =
      place ? number_of(command[place->word].substr(place->from)) : std::optional<std::int64_t>();
  if (!value) {
    return fail(ErrorCode::kInvalidArgument,
                "--arg {}: the command does not say {} with a number; say it, so that there is a "
                "value to begin with",
                text, argument.option);
  }
  argument.value = *value;
  return argument;
}

std::vector<std::string> with_arguments(std::vector<std::string> command,
                                        const std::vector<const Lever*>& levers) {
  for (const Lever* const lever : levers) {
    for (const auto& [option, value] : lever->arguments) {
      if (find_class_argument(option) != nullptr) continue;
      const auto place = find_value(command, option);
      if (place) command[place->word] = command[place->word].substr(0, place->from) + value;
    }
  }
  return command;
}

}  // namespace unstarve::tune
