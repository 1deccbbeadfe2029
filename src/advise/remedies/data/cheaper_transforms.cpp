#include "advise/catalogue.h"
#include "advise/known_work.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

/// What can be done on a GPU instead is only said where one trains.
std::optional<Remedy> offer_cheaper_transforms(const Situation& situation, std::string_view rule) {
  const bool on_host = diagnose::trains_on_host(situation.signals);
  Remedy remedy;
  if (has_known_work(situation.signals)) return std::nullopt;
  // Reading fewer pixels saves the decoding and the resizing.
  if (rule == "python_transform" && may_decode_smaller(situation)) return std::nullopt;
  if (rule == "python_transform" && !loads_images(situation.signals, situation.job)) {
    remedy.how =
        "Do less per sample in Python: once, beforehand, what gives the same each time; the rest "
        "for whole batches.";
  } else if (rule == "python_transform") {
    remedy.how = on_host ? "Do less per sample in Python: use torchvision v2 on uint8 tensors, "
                           "resize the data set once beforehand."
                         : "Do less per sample in Python: transform whole batches on the GPU, use "
                           "torchvision v2 on uint8 tensors, resize the data set once beforehand.";
  } else if (rule == "slow_transform") {
    remedy.how = on_host ? "Store images in a size nearer to the one that comes out."
                         : "Normalise, convert and jitter colours on the GPU, where whole batches "
                           "of uint8 pixels cost little; store images in a size nearer to the one "
                           "that comes out.";
  } else {
    return std::nullopt;
  }
  return remedy;
}

}  // namespace

CatalogueEntry cheaper_transforms_remedy() {
  return {
      .id = "cheaper_transforms", .effort = Effort::kRewrite, .offer = offer_cheaper_transforms};
}

}  // namespace unstarve::advise
