#include <algorithm>
#include <string_view>

#include "advise/catalogue.h"
#include "advise/known_work.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

constexpr double kAtAll = 0.03;
constexpr double kMuchIsDecoding = 0.3;
constexpr double kMostIsBoth = 0.5;

bool resizes(const Situation& situation) {
  if (situation.signals.fetch_resizing_ratio.value_or(0) >= kAtAll) return true;
  const std::vector<std::string>& transforms = situation.job.data.transforms;
  return std::any_of(transforms.begin(), transforms.end(), [](std::string_view transform) {
    return transform.starts_with("Resize(") || transform.starts_with("RandomResizedCrop(");
  });
}

/// A question without a gain: nobody sees how large the images are, and pixels change a little.
std::optional<Remedy> offer_reduced_decode(const Situation& situation, std::string_view rule) {
  const bool about_images = rule == "decode_cpu" || rule == "python_transform";
  if (!about_images || !may_decode_smaller(situation)) return std::nullopt;
  Remedy remedy;
  remedy.how =
      "Are the images twice as wide as the model gets them? Then decode them smaller: "
      "`image.draft('RGB', (2 * width, 2 * height))` after `Image.open`, or "
      "`cv2.IMREAD_REDUCED_COLOR_2`. Pixels change a little.";
  return remedy;
}

}  // namespace

bool may_decode_smaller(const Situation& situation) {
  const diagnose::Signals& signals = situation.signals;
  if (is_native(signals) || !resizes(situation)) return false;
  if (!image_folder(situation.job.data).empty()) return false;
  const double decoding = signals.decode_ratio.value_or(0);
  const double both = decoding + signals.fetch_resizing_ratio.value_or(0);
  return decoding >= kMuchIsDecoding || (decoding >= kMuchIsDecoding / 2 && both >= kMostIsBoth);
}

CatalogueEntry reduced_decode_remedy() {
  return {.id = "reduced_decode", .effort = Effort::kRewrite, .offer = offer_reduced_decode};
}

}  // namespace unstarve::advise
