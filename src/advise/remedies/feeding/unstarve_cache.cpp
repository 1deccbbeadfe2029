#include <fmt/format.h>

#include "advise/catalogue.h"
#include "advise/parts/native_model.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

/// unstarve's loader with a cache that it fills; nothing unless the data is a folder of images.
std::optional<Remedy> offer_unstarve_cache(const Situation& situation, std::string_view rule) {
  if (rule != "input_wait" && rule != "input_wait_from_host") return std::nullopt;
  if (image_folder(situation.job.data).empty()) return std::nullopt;
  const std::string_view when = is_native(situation.signals)
                                    ? "Unless the loader has a cache already"
                                    : "With unstarve's DataLoader";
  Remedy remedy;
  remedy.how = fmt::format(
      "{}{}: set UNSTARVE_CACHE_DIR=DIR for the job (or pass cache_dir=DIR to "
      "unstarve.ImageLoader), DIR on a local disk with room for 1.25 times the images. The first "
      "epoch keeps copies, which takes CPU; from the second on they are read at the speed of "
      "shards.",
      when, diagnose::at(situation.job.loader_place));
  return remedy;
}

std::optional<predict::Remedy> model_unstarve_cache(const Remedy&, const PredictionBasis& basis) {
  return drop_in_model(basis.calibration.cache, basis);
}

}  // namespace

CatalogueEntry unstarve_cache_remedy() {
  return {.id = "unstarve_cache",
          .effort = Effort::kCache,
          .offer = offer_unstarve_cache,
          .model = model_unstarve_cache,
          .gains_later = true,
          .why_not_tried =
              "it gains from the second epoch on. To switch it on beside that loader, set "
              "UNSTARVE_CACHE_DIR=DIR, DIR on a local disk"};
}

}  // namespace unstarve::advise
