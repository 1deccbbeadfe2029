#include "examine/calibration/image_sample.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "feed/opening/open_source.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/loader_parts.h"

namespace unstarve::examine {

namespace {

namespace fs = std::filesystem;

// What the disk did not take in one epoch, a loader keeps in a later one.
constexpr int kFillingEpochs = 2;

Status load_epoch(feed::Loader& loader, std::uint32_t epoch, const FillProgress& progress) {
  if (Status begun = loader.begin_epoch(epoch); !begun) return begun;
  std::uint64_t loaded = 0;
  while (true) {
    const auto next = loader.next(std::chrono::minutes(1));
    if (!next) return forward_error(next);
    if (next->state == feed::NextState::kEnd) return {};
    if (next->state == feed::NextState::kTimeout) {
      return fail(ErrorCode::kTimeout, "no batch of {} came within a minute",
                  loader.options().root);
    }
    loaded += static_cast<std::uint64_t>(next->batch->count);
    if (progress) progress(loaded, loader.sample_count());
  }
}

/// What the cache did, once nothing waits to be written any more.
feed::CacheStats written_copies(const feed::Loader& loader) {
  feed::CacheStats stats = loader.cache_stats();
  while (stats.waiting_bytes > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stats = loader.cache_stats();
  }
  return stats;
}

std::string why_not_all(const feed::CacheStats& stats) {
  if (stats.refused > 0) return fmt::format("{} have no faster form", stats.refused);
  return "the disk did not keep up";
}

/// What makes a cache worth nothing to a trial.
Status check_kept(const feed::CacheStats& stats, const FilledCache& filled,
                  const std::string& folder) {
  if (!stats.stopped.empty()) {
    return fail(ErrorCode::kIo,
                "the cache in {} took {} of {} images: {}; it needs 1.25 times their bytes", folder,
                filled.kept, filled.images, stats.stopped);
  }
  if (filled.kept > 0) return {};
  return fail(ErrorCode::kNotSupported, "the cache took none of {} images: {}", filled.images,
              filled.why_not_all);
}

}  // namespace

Result<ImageSample> link_some_images(const std::string& image_folder, const std::string& folder,
                                     const SampleBounds& bounds) {
  feed::LoaderOptions options;
  options.root = image_folder;
  const auto source = feed::open_source(options, feed::LoaderParts::real().files);
  if (!source) return forward_error(source);
  const std::uint64_t size = (*source)->size();
  const std::uint64_t wanted = std::min(bounds.images, size);
  ImageSample sample;
  std::error_code failed;
  for (std::uint64_t i = 0; i < wanted && sample.bytes < bounds.bytes; ++i) {
    const std::uint64_t index = i * size / wanted;
    const fs::path image = fs::absolute((*source)->locate(index));
    const fs::path class_folder = fs::path(folder) / fmt::format("{:06d}", (*source)->label(index));
    fs::create_directories(class_folder, failed);
    if (failed) return fail_errno(failed.value(), fmt::format("cannot make the folder {}", folder));
    fs::create_symlink(
        image, class_folder / (fmt::format("{:08d}", i) + image.extension().string()), failed);
    if (failed) return fail_errno(failed.value(), fmt::format("cannot link {}", image.string()));
    sample.bytes += fs::file_size(image, failed);
    if (failed) return fail_errno(failed.value(), fmt::format("cannot read {}", image.string()));
    ++sample.images;
  }
  return sample;
}

double process_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Result<FilledCache> fill_cache(const std::string& image_folder, const std::string& cache_folder,
                               const FillProgress& progress) {
  feed::LoaderOptions options;
  options.root = image_folder;
  options.cache_dir = cache_folder;
  options.threads = feed::usable_cpu_count();
  options.on_error = feed::OnError::kSkip;
  auto opened = feed::Loader::open(options);
  if (!opened) return forward_error(opened);
  const std::unique_ptr<feed::Loader> loader = std::move(*opened);
  const SteadyClock clock;
  const std::int64_t from_ns = clock.now_ns();
  const double from_cpu_s = process_cpu_s();
  FilledCache filled;
  filled.images = loader->sample_count();
  feed::CacheStats stats;
  do {
    const auto epoch = static_cast<std::uint32_t>(filled.epochs);
    if (Status loaded = load_epoch(*loader, epoch, progress); !loaded) return forward_error(loaded);
    ++filled.epochs;
    stats = written_copies(*loader);
  } while (stats.kept + stats.refused < filled.images && stats.stopped.empty() &&
           filled.epochs < kFillingEpochs);
  filled.kept = stats.kept;
  filled.bytes = stats.bytes;
  filled.seconds = 1e-9 * static_cast<double>(clock.now_ns() - from_ns);
  filled.cpu_s = process_cpu_s() - from_cpu_s;
  if (!filled.full()) filled.why_not_all = why_not_all(stats);
  if (Status kept = check_kept(stats, filled, cache_folder); !kept) return forward_error(kept);
  return filled;
}

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  if (failed) return fail_errno(failed.value(), "cannot find a folder for temporary files");
  std::string path = (parent / "unstarve-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    return fail_errno(errno, fmt::format("cannot make a folder in {}", parent.string()));
  }
  return ScratchFolder(std::move(path));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace unstarve::examine
