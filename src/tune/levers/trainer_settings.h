#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tune/levers/lever.h"

namespace unstarve::tune {

/// The levers as settings of the trainer whose loop calls the model, ready to be copied:
/// `TrainingArguments(bf16=True, ...)` of "transformers", `Trainer(precision="bf16-mixed", ...)` of
/// "lightning", lines of accelerate's YAML of "accelerate". Empty where none of them is one.
std::string trainer_settings(const std::string& trainer, const std::vector<const Lever*>& levers);

}  // namespace unstarve::tune
