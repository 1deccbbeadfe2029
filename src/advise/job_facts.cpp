#include "advise/job_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/number_words.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

// Those that unstarve.DataLoader reads natively (known_data_set() in its lowering), also within
// Subsets.
constexpr std::array<std::string_view, 3> kImageFolders = {
    "torchvision.datasets.folder.ImageFolder",
    "torchvision.datasets.folder.DatasetFolder",
    "torchvision.datasets.imagenet.ImageNet",
};

bool holds_images_in_folders(const trace::DataSet& data) {
  return std::find(kImageFolders.begin(), kImageFolders.end(), data.files_class) !=
         kImageFolders.end();
}

/// The other loader that holds the job up, where an evaluation's does beside the training's.
void add_other_loader(const job::Rank& rank, const job::LoaderUse& loader, JobFacts& facts) {
  std::int64_t most_ns = 0;
  for (const job::LoaderUse& use : rank.loaders) {
    const std::int64_t ns = rank.waited_ns(use);
    if (use.feeds_training == loader.feeds_training || !use.config || ns <= most_ns) continue;
    most_ns = ns;
    facts.other_place = use.config->place;
  }
  const auto both_ns = static_cast<double>(most_ns + rank.waited_ns(loader));
  if (both_ns > 0) facts.other_share = static_cast<double>(most_ns) / both_ns;
}

/// In a run the hook sees optimizers and backward(), a trace may hold neither of a training. Where
/// batches are steps, an optimizer by hand may train.
bool is_inference(trace::InputKind input, const job::Rank& rank,
                  const trace::TrainingDevice& device) {
  using trace::StepSource;
  if (rank.steps.empty() || input != trace::InputKind::kRun) return false;
  const StepSource source = rank.steps.front().source;
  if (source == StepSource::kLoaderBatch) return !device.computes_gradients.value_or(true);
  return source == StepSource::kRepetition || source == StepSource::kModelCall;
}

}  // namespace

JobFacts job_facts(const job::JobView& job, std::size_t rank) {
  JobFacts facts;
  if (const auto* device = job.timeline().device_of(job.ranks()[rank].process)) {
    facts.device = *device;
  }
  facts.infers = is_inference(job.timeline().input, job.ranks()[rank], facts.device);
  const job::LoaderUse* loader = job.ranks()[rank].waited_loader();
  if (loader == nullptr || !loader->config) return facts;
  facts.loader_place = loader->config->place;
  facts.loader_file = loader->config->file;
  facts.data = loader->config->data;
  facts.iterated_at = loader->config->iterated_at;
  facts.evaluates = !loader->feeds_training;
  facts.passes = passes_begun(job, rank, *loader);
  add_other_loader(job.ranks()[rank], *loader, facts);
  return facts;
}

std::int64_t passes_begun(const job::JobView& job, std::size_t rank, const job::LoaderUse& loader) {
  std::int64_t passes = 0;
  for (const trace::LoaderConfig& config : job.timeline().loaders) {
    const bool same = config.process == job.ranks()[rank].process && loader.id && config.id &&
                      *config.id == *loader.id;
    if (same && config.made_ns != 0) ++passes;
  }
  return passes;
}

std::string which_loader(const JobFacts& job) {
  std::string text = job.evaluates ? " of the evaluation" : "";
  text += diagnose::at(job.loader_place);
  const bool elsewhere = !job.iterated_at.empty() && job.iterated_at != job.loader_place;
  return elsewhere ? fmt::format("{} (iterated at {})", text, job.iterated_at) : text;
}

std::string which_loaders(const JobFacts& job) {
  constexpr double kMuchOfBoth = 0.2;
  const std::string text = which_loader(job);
  if (job.other_share < kMuchOfBoth || job.other_place.empty()) return text;
  return text + fmt::format(", and for {} of that for the {}'s at {}",
                            percent_text(job.other_share),
                            job.evaluates ? "training" : "evaluation", job.other_place);
}

bool may_load_natively(const trace::DataSet& data) {
  return data.class_name.empty() || holds_images_in_folders(data);
}

bool may_repeat_in_workers(const trace::DataSet& data) {
  return data.is_stream && data.workers_repeat.value_or(true);
}

bool loads_images(const diagnose::Signals& signals, const JobFacts& job) {
  constexpr double kAtAll = 0.01;
  return signals.decode_ratio.value_or(0) >= kAtAll || !image_folder(job.data).empty();
}

std::string image_folder(const trace::DataSet& data) {
  return holds_images_in_folders(data) ? data.folder : std::string();
}

std::string whole_image_folder(const trace::DataSet& data) {
  return data.class_name == data.files_class ? image_folder(data) : std::string();
}

}  // namespace unstarve::advise
