#include "diagnose/signals/opened_images.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace unstarve::diagnose {

namespace {

// Of torchvision's transforms those that the engine knows (python/unstarve/lowering; a test of its
// own compares them).
constexpr std::array<std::string_view, 25> kTransforms = {
    "AutoAugment",
    "CenterCrop",
    "ColorJitter",
    "ConvertImageDtype",
    "GaussianBlur",
    "ImageClassification",
    "Normalize",
    "PILToTensor",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAutocontrast",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "ToTensor",
    "TrivialAugmentWide",
};

/// Modules of torch are called through torch's own function, and of torchvision's second kind all
/// transforms are modules.
bool calls_a_transform(const trace::Stack& stack) {
  return stack.callee.starts_with("torchvision/transforms/") ||
         stack.callee.starts_with("torch/nn/modules/module.py ");
}

/// A data set of a library has no line of the job's.
bool is_in_library(const trace::Stack& stack) { return stack.line.empty(); }

}  // namespace

OpenedImageWork opened_image_work(const trace::Stack& stack) {
  const bool within = is_in_library(stack) || calls_a_transform(stack);
  if (stack.in_jpeg) {
    const bool opens =
        stack.callee == "PIL/Image.py convert" || stack.callee.starts_with("datasets/") || within;
    return opens ? OpenedImageWork::kDecoding : OpenedImageWork::kNone;
  }
  // An image with its mask goes another way.
  const bool is_alone = stack.call.find(',') == std::string::npos;
  const bool known =
      std::find(kTransforms.begin(), kTransforms.end(), stack.transform) != kTransforms.end();
  return within && is_alone && known && !stack.in_collate ? OpenedImageWork::kTransforming
                                                          : OpenedImageWork::kNone;
}

}  // namespace unstarve::diagnose
