#include "cli/commands/demo_text.h"

#include <fmt/format.h>

#include "base/number_words.h"

namespace unstarve::cli {

namespace {

// MLPerf Storage's bound for an accelerator that is fed.
constexpr double kFedAu = 0.9;

/// CPU time of one image while the cache is filled, beside that without a cache.
std::string cost_per_image(const examine::FilledCache& cache,
                           const advise::Calibration& calibration) {
  const double filling_ms = 1e3 * cache.cpu_s / static_cast<double>(cache.images) / cache.epochs;
  std::string text = fmt::format("{:.2f} ms of CPU per image", filling_ms);
  if (calibration.folder) {
    text += fmt::format(" ({:.2f} without a cache)", 1e3 * calibration.folder->sample_cpu_s);
  }
  return text;
}

}  // namespace

std::string prediction_text(const examine::Examination& before, const std::string& remedy) {
  const advise::Remedy* advised = before.advice.find(remedy);
  if (advised == nullptr) return "no prediction, the diagnosis does not advise it";
  if (advised->predicted) return speedup_text(*advised->predicted);
  return "no prediction, " + std::string(to_string(advised->predicted.why_absent()));
}

std::string measured_text(const trial::Verification& tried) {
  std::string text = speedup_text(tried.measured);
  if (tried.predicted) text += tried.held ? ", as predicted" : ", outside the prediction";
  return text;
}

std::string filled_text(const examine::FilledCache& cache, const advise::Calibration& calibration) {
  std::string text =
      fmt::format("  {:<16}  kept {} of {} images, {}, in {}\n{:20}{}",
                  cache.epochs == 1 ? "first epoch" : "two epochs", cache.kept, cache.images,
                  bytes_text(static_cast<double>(cache.bytes)), seconds_text(cache.seconds), "",
                  cost_per_image(cache, calibration));
  if (!cache.full()) text += fmt::format("\n{:20}not all: {}", "", cache.why_not_all);
  return text;
}

std::string packed_text(const feed::PackSummary& packed) {
  return fmt::format("  {:<16}  {} of the images once: {} -> {} in {}", "unstarve pack",
                     packed.samples, bytes_text(static_cast<double>(packed.source_bytes)),
                     bytes_text(static_cast<double>(packed.shard_bytes)),
                     seconds_text(packed.seconds));
}

std::string what_feeding_costs(const std::vector<trial::Verification>& tried) {
  std::string fed;
  for (const trial::Verification& trial : tried) {
    if (!trial.after.au || *trial.after.au < kFedAu || !trial.after.cpu_cores) continue;
    fed += fmt::format("    {:<16} with {:.2f} CPU cores\n", trial.remedy, *trial.after.cpu_cores);
  }
  return fed.empty() ? fed : "  The GPU is fed (an AU of 90 % or more) by\n" + fed;
}

std::string filling_cost(const examine::FilledCache& cache,
                         const advise::Calibration& calibration) {
  return fmt::format("{} for {} images, {}", seconds_text(cache.seconds / cache.epochs),
                     cache.images, cost_per_image(cache, calibration));
}

std::string what_filling_costs(const examine::FilledCache& cache,
                               const advise::Calibration& calibration) {
  return "  unstarve_cache is measured from the second epoch on. The first one filled the\n"
         "  cache: " +
         filling_cost(cache, calibration) + ".\n";
}

}  // namespace unstarve::cli
