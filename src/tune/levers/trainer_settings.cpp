#include "tune/levers/trainer_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace unstarve::tune {

std::string trainer_settings(const std::string& trainer, const std::vector<const Lever*>& levers) {
  std::vector<std::string> settings;
  for (const Lever* const lever : levers) {
    const auto setting = lever->by_trainer.find(trainer);
    if (setting != lever->by_trainer.end()) settings.push_back(setting->second);
  }
  if (settings.empty()) return {};
  if (trainer == "accelerate") {
    return fmt::format("accelerate's configuration (YAML): {}", fmt::join(settings, "; "));
  }
  return fmt::format("{}({})", trainer == "transformers" ? "TrainingArguments" : "Trainer",
                     fmt::join(settings, ", "));
}

}  // namespace unstarve::tune
