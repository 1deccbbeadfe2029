#include "diagnose/rules/remedies.h"

#include <algorithm>
#include <cmath>

#include "base/shell_word.h"
#include "diagnose/rules/native/stages.h"
#include "diagnose/rules/wording.h"

namespace unstarve::diagnose {

namespace {

// One slow batch must not stop the step, so a single worker that just keeps up is not enough.
constexpr double kFewestWorkers = 2;
constexpr std::int64_t kPrefetchFactor = 4;

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

// A quota may leave a fraction of a CPU; a thread is a thread all the same.
double whole_cpus(double effective_cpus) { return std::max(1.0, std::round(effective_cpus)); }

}  // namespace

Reading<double> needed_workers(const Signals& signals) {
  // In the training process the fetch is the wait, so the wait stands for it when nobody timed it.
  const bool inside = signals.num_workers.value_or(0) == 0;
  const Reading<double>& fetch =
      signals.fetch_ns_median || !inside ? signals.fetch_ns_median : signals.wait_ns_median;
  if (!fetch) return fetch.why_absent();
  if (!signals.step_ns_median || !signals.wait_ns_median) return WhyAbsent::kNotObserved;
  const double rest_ns = *signals.step_ns_median - *signals.wait_ns_median;
  if (rest_ns <= 0) return WhyAbsent::kNotObserved;
  return std::max(kFewestWorkers, std::ceil(*fetch / rest_ns));
}

std::optional<Remedy> more_workers(const Signals& signals) {
  if (is_native(signals)) return std::nullopt;  // it has threads
  if (signals.cpu_use_ratio && *signals.cpu_use_ratio >= kCpusBusy) return std::nullopt;
  const Reading<double> needed = needed_workers(signals);
  if (!needed) return std::nullopt;
  const double workers = std::min(*needed, whole_cpus(signals.effective_cpus.value_or(*needed)));
  if (signals.num_workers && workers <= *signals.num_workers) return std::nullopt;

  Remedy remedy;
  remedy.id = "more_workers";
  const std::string now =
      signals.num_workers ? fmt::format(" instead of {:.0f}", *signals.num_workers) : "";
  const std::string bound =
      signals.effective_cpus && *needed > *signals.effective_cpus
          ? fmt::format("; hiding a batch entirely would take {:.0f}, this job may use {:.0f} CPUs",
                        *needed, *signals.effective_cpus)
          : "";
  remedy.how = fmt::format("Make the DataLoader{} with num_workers={:.0f}{}, prefetch_factor={}{}.",
                           at(signals.loader_place), workers, now, kPrefetchFactor, bound);
  remedy.values = {{"num_workers", whole(workers)}, {"prefetch_factor", kPrefetchFactor}};
  return remedy;
}

Remedy unstarve_loader(const Signals& signals) {
  Remedy remedy;
  remedy.id = "unstarve_loader";
  std::string threads;
  if (signals.effective_cpus) {
    const double count = whole_cpus(*signals.effective_cpus);
    threads = fmt::format(" with {:.0f} thread{}", count, count == 1 ? "" : "s");
    remedy.values = {{"threads", whole(count)}};
  }
  remedy.how = fmt::format(
      "Import DataLoader from unstarve instead of torch.utils.data{}: where it knows data set and "
      "transforms (ImageFolder and torchvision's), it reads, decodes and batches in native "
      "threads{}.",
      at(signals.loader_place), threads);
  return remedy;
}

std::optional<Remedy> unstarve_cache(const Signals& signals) {
  if (signals.image_folder.empty()) return std::nullopt;
  const std::string_view when =
      is_native(signals) ? "Unless the loader has a cache already" : "With that loader";
  return advice("unstarve_cache",
                fmt::format("{}{}: set UNSTARVE_CACHE_DIR=DIR for the job (or pass cache_dir=DIR "
                            "to unstarve.ImageFolderLoader), DIR on a local disk with room for "
                            "1.25 times the images. The first epoch keeps copies, which takes CPU; "
                            "from the second on they are read at the speed of shards.",
                            when, at(signals.loader_place)));
}

std::optional<Remedy> unstarve_shards(const Signals& signals) {
  if (signals.image_folder.empty()) return std::nullopt;
  const std::string shards = signals.image_folder + "-shards";
  return advice("unstarve_shards",
                fmt::format("Pack the images once with `unstarve pack {} {}`, and load them{} with "
                            "unstarve.ImageFolderLoader(\"{}\", batch_size), which normalises "
                            "nothing: its uint8 pixels are for the device to scale.",
                            shell_word(signals.image_folder), shell_word(shards),
                            at(signals.loader_place), shards));
}

Remedy pack_shards(const Signals& signals) {
  if (auto named = unstarve_shards(signals)) return *std::move(named);
  return advice("unstarve_shards",
                "Unless the loader reads shards already: pack the images once with `unstarve pack "
                "FOLDER SHARDS` and load from SHARDS. They take a fraction of the decoding, and "
                "are read in long pieces.");
}

std::vector<Remedy> native_loading(const Signals& signals) {
  std::vector<Remedy> remedies;
  if (!is_native(signals)) remedies.push_back(unstarve_loader(signals));
  if (auto cache = unstarve_cache(signals)) remedies.push_back(*std::move(cache));
  if (auto shards = unstarve_shards(signals)) remedies.push_back(*std::move(shards));
  return remedies;
}

std::optional<Remedy> fewer_workers(const Signals& signals) {
  if (!signals.num_workers || !signals.effective_cpus) return std::nullopt;
  const double workers = whole_cpus(*signals.effective_cpus);
  if (workers >= *signals.num_workers) return std::nullopt;
  Remedy remedy;
  remedy.id = "fewer_workers";
  remedy.how =
      fmt::format("Lower num_workers{} from {:.0f} to {:.0f}, one per CPU this job may use.",
                  at(signals.loader_place), *signals.num_workers, workers);
  remedy.values = {{"num_workers", whole(workers)}};
  return remedy;
}

std::optional<Remedy> larger_batch(const Signals& signals) {
  constexpr double kFull = 0.8;
  if (signals.gpu_memory_used_ratio && *signals.gpu_memory_used_ratio >= kFull) return std::nullopt;
  Remedy remedy;
  remedy.id = "larger_batch";
  const std::string room =
      signals.gpu_memory_used_ratio
          ? fmt::format(" ({} of its memory is in use)", percent(*signals.gpu_memory_used_ratio))
          : " if its memory allows";
  remedy.how = fmt::format(
      "Give the GPU more samples per step{}; this changes the training's trajectory, so adapt the "
      "learning rate.",
      room);
  if (signals.batch_size) remedy.values = {{"batch_size", 2 * whole(*signals.batch_size)}};
  return remedy;
}

Remedy pin_memory(const Signals& signals) {
  return advice("pin_memory",
                fmt::format("Make the DataLoader{} with pin_memory=True and copy with "
                            ".to(device, non_blocking=True).",
                            at(signals.loader_place)));
}

Remedy advice(std::string id, std::string how) {
  Remedy remedy;
  remedy.id = std::move(id);
  remedy.how = std::move(how);
  return remedy;
}

}  // namespace unstarve::diagnose
