#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tune/levers/lever.h"

namespace unstarve::tune {

/// What trains a job, as the hook says it.
struct TrainedBy {
  std::string_view trainer;
  std::string_view device;
  std::string_view optimizer;  // its class
};

/// The levers as settings of the trainer whose loop calls the model, ready to be copied:
/// `TrainingArguments(bf16=True, ...)` of "transformers", `Trainer(precision="bf16-mixed", ...)` of
/// "lightning", lines of accelerate's YAML of "accelerate". Empty where none of them is one. Names
/// are those of transformers 5, Lightning 2 and accelerate 1.
std::string trainer_settings(const TrainedBy& by, const std::vector<const Lever*>& levers);

}  // namespace unstarve::tune
