#include "diagnose/signals/opened_images.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace unstarve::diagnose {

namespace {

// Of torchvision's transforms those that the engine knows (python/unstarve/lowering; a test of its
// own compares them), also beside masks and boxes.
constexpr std::array<std::string_view, 30> kTransforms = {
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
    "RandomIoUCrop",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "ScaleJitter",
    "ToDtype",
    "ToTensor",
    "TrivialAugmentWide",
};

/// What a script may ask of an image before it is decoded.
constexpr std::array<std::string_view, 8> kCuts = {
    "PIL/Image.py crop",
    "PIL/Image.py resize",
    "PIL/Image.py transpose",
    "torchvision/transforms/functional.py crop",
    "torchvision/transforms/functional.py hflip",
    "torchvision/transforms/functional.py resize",
    "torchvision/transforms/functional.py resized_crop",
    "torchvision/transforms/functional.py vflip",
};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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
  const bool cuts = is_one_of(kCuts, stack.callee);
  if (stack.in_jpeg) {
    const bool opens = stack.callee == "PIL/Image.py convert" ||
                       stack.callee.starts_with("datasets/") || within || cuts;
    return opens ? OpenedImageWork::kDecoding : OpenedImageWork::kNone;
  }
  const bool transforms = cuts || (within && is_one_of(kTransforms, stack.transform));
  return transforms && !stack.in_collate ? OpenedImageWork::kTransforming : OpenedImageWork::kNone;
}

}  // namespace unstarve::diagnose
