#include "tune/levers/class_argument.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace unstarve::tune {

namespace {

// The hook's tuning/constructed.py has the same.
constexpr std::array<ClassArgument, 6> kKnown = {{
    {"batch", "DataLoader", "batch_size"},
    {"workers", "DataLoader", "num_workers"},
    {"batch", "TrainingArguments", "per_device_train_batch_size"},
    {"accumulation", "TrainingArguments", "gradient_accumulation_steps"},
    {"workers", "TrainingArguments", "dataloader_num_workers"},
    {"accumulation", "Trainer", "accumulate_grad_batches"},
}};

}  // namespace

const ClassArgument* find_class_argument(std::string_view option) {
  for (const ClassArgument& known : kKnown) {
    const std::size_t dot = known.class_name.size();
    if (option.size() == dot + 1 + known.argument.size() && option.starts_with(known.class_name) &&
        option[dot] == '.' && option.ends_with(known.argument)) {
      return &known;
    }
  }
  return nullptr;
}

std::string known_class_arguments() {
  std::string text;
  for (const ClassArgument& known : kKnown) {
    text += fmt::format("{}{}={}.{}", text.empty() ? "" : ", ", known.name, known.class_name,
                        known.argument);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> class_arguments_of(
    const std::vector<const Lever*>& levers) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const Lever* const lever : levers) {
    for (const auto& argument : lever->arguments) {
      if (find_class_argument(argument.first) != nullptr) found.push_back(argument);
    }
  }
  return found;
}

std::string hook_arguments(const std::vector<std::string>& asked,
                           const std::vector<const Lever*>& levers) {
  nlohmann::json wanted = nlohmann::json::object();
  for (const std::string& text : asked) {
    const std::string option = text.substr(text.find('=') + 1);
    if (find_class_argument(option) != nullptr) wanted[option] = nullptr;
  }
  for (const auto& [option, value] : class_arguments_of(levers)) wanted[option] = std::stoll(value);
  return wanted.empty() ? std::string() : wanted.dump();
}

}  // namespace unstarve::tune
