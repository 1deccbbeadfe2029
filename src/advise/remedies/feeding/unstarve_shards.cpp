#include <fmt/format.h>

#include "advise/catalogue.h"
#include "advise/parts/native_model.h"
#include "base/shell_word.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

/// The images packed into shards, for unstarve's loader.
Remedy pack_folder(const std::string& folder, const std::string& loader_place) {
  const std::string shards = folder + "-shards";
  const std::string packed = fmt::format("Pack the images once with `unstarve pack {} {}`",
                                         shell_word(folder), shell_word(shards));
  const std::string loader = fmt::format("unstarve.ImageLoader(\"{}\", batch_size)", shards);
  Remedy remedy;
  remedy.how = fmt::format(
      "{}, and load them{} with {}, which normalises nothing: its uint8 pixels are for the device "
      "to scale.",
      packed, diagnose::at(loader_place), loader);
  remedy.edit = "- DataLoader(...)\n+ " + loader;
  remedy.beside_edit =
      packed + ". The loader gives uint8 pixels, which the device scales and normalises.";
  return remedy;
}

std::optional<Remedy> offer_unstarve_shards(const Situation& situation, std::string_view rule) {
  const bool waits = rule == "input_wait" || rule == "input_wait_from_host";
  const bool native_stage =
      rule == "slow_read" || (rule == "decode_cpu" && is_native(situation.signals));
  if (!waits && !native_stage) return std::nullopt;
  const std::string folder = whole_image_folder(situation.job.data);
  if (!folder.empty()) return pack_folder(folder, situation.job.loader_place);
  if (!native_stage) return std::nullopt;
  // Of a job that the engine feeds it is known that they are images, not where they lie.
  Remedy remedy;
  remedy.how =
      "Unless the loader reads shards already: pack the images once with `unstarve pack FOLDER "
      "SHARDS` and load from SHARDS. They take a fraction of the decoding, and are read in long "
      "pieces.";
  return remedy;
}

std::optional<predict::Remedy> model_unstarve_shards(const Remedy&, const PredictionBasis& basis) {
  return native_model(basis.calibration.shards, basis);
}

}  // namespace

CatalogueEntry unstarve_shards_remedy() {
  return {.id = "unstarve_shards",
          .effort = Effort::kPreparedData,
          .offer = offer_unstarve_shards,
          .model = model_unstarve_shards,
          .why_not_tried = "it takes a change of the script"};
}

}  // namespace unstarve::advise
