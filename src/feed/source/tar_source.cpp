#include "feed/source/tar_source.h"

#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include <xxhash.h>

#include "base/io/read.h"
#include "base/unique_handle.h"
#include "feed/data/read_hint.h"
#include "feed/data/room_in.h"
#include "feed/formats/image_format.h"
#include "feed/source/folder_walk.h"
#include "feed/source/index_cache.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {
namespace {

// Indexing waits for the storage, not for a CPU.
constexpr int kIndexThreads = 8;

std::int64_t now_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

struct Indexed {
  TarIndex index;
  bool scanned = false;
};

Result<Indexed> index_tar(const std::string& path, const TarSource::Options& options,
                          io::Files& files) {
  const Result<FileDescriptor> file = files.open(path, O_RDONLY | O_NONBLOCK);
  if (!file) return forward_error(file);
  const Result<TarStamp> stamp = tar_stamp(files, file->get());
  if (!stamp) return forward_error(stamp);
  const IndexCache cache(options.cache_folder);
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  const std::string name = real == nullptr ? path : std::string(real.get());
  if (const auto kept = cache.load_bytes(name, "tar"); kept != nullptr) {
    Result<TarIndex> index = unpack_tar_index(kept->bytes());
    if (index && index->stamp == *stamp) return Indexed{std::move(*index), false};
  }
  const std::int64_t begun_ns = now_ns();
  Result<TarIndex> index = TarIndex::scan(files, file->get(), options.accept_cut);
  if (!index) return forward_error(index);
  const bool whole = index->samples.empty() || !index->is_cut(index->samples.back());
  if (whole && index->samples.size() >= options.kept_from_samples &&
      index->stamp.changed_ns < begun_ns - kCoarsestStampNs) {
    // What cannot be kept is indexed again the next time, which is slower and no error.
    (void)cache.store_bytes(name, "tar", pack_tar_index(*index));
  }
  return Indexed{std::move(*index), true};
}

/// Runs `body` for 0 .. count - 1 in several threads.
template <class Body>
void for_each_in_threads(std::size_t count, Body body) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::jthread> threads;
  try {
    const std::size_t wanted = std::min<std::size_t>(count, kIndexThreads);
    for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(run);
  } catch (const std::exception&) {
    // Those that could be started do the work, this one at least.
  }
  run();
}

class TarReader final : public SampleReader {
 public:
  TarReader(const TarSource& source, io::Files& files, std::int64_t max_file_bytes)
      : source_(source), files_(files), max_file_bytes_(max_file_bytes) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    const TarSource::Place place = source_.place(index);
    if (place.index.is_cut(place.sample)) {
      return fail(ErrorCode::kCorruptData,
                  "the tar is cut off here, at {} bytes: this sample and all that followed are not "
                  "in it",
                  place.index.stamp.size);
    }
    if (place.sample.size > max_file_bytes_) {
      return fail(ErrorCode::kInvalidArgument, "the image has {} bytes, the limit is {}",
                  place.sample.size, max_file_bytes_);
    }
    if (Status status = open(place); !status) return forward_error(status);
    const std::size_t size = place.sample.size;
    const std::span<std::byte> bytes = room_in(buffer_, size);
    const Result<std::size_t> got =
        io::read_available(files_, file_.get(), place.sample.offset, bytes);
    if (!got) return forward_error(got);
    if (*got != size) return fail(ErrorCode::kCorruptData, "the tar has become shorter");
    return EncodedSample{SampleForm::kFile, bytes};
  }

  /// The sample's own size, and the times of the tar: whatever changes it leaves no copy valid.
  Result<FileStamp> stamp(std::uint64_t index) override {
    const TarSource::Place place = source_.place(index);
    if (Status status = open(place); !status) return forward_error(status);
    Result<FileStamp> stamp = stamp_of(files_, file_.get());
    if (stamp) stamp->size = place.sample.size;
    return stamp;
  }

  ReadHint hint(std::uint64_t index) override {
    const TarSource::Place place = source_.place(index);
    if (!open(place)) return ReadHint::kFetching;  // read() will say what is wrong
    return hint_range(files_, file_.get(), place.sample.offset, place.sample.size);
  }

 private:
  /// The last tar stays open: without a shuffle the next sample lies in it, too.
  Status open(const TarSource::Place& place) {
    if (opened_ != &place.path) {
      opened_ = nullptr;
      Result<FileDescriptor> file = files_.open(place.path, O_RDONLY | O_NONBLOCK);
      if (!file) return forward_error(file);
      file_ = std::move(*file);
      opened_ = &place.path;
    }
    const Result<TarStamp> stamp = tar_stamp(files_, file_.get());
    if (!stamp) return forward_error(stamp);
    if (*stamp == place.index.stamp) return {};
    opened_ = nullptr;
    return fail(ErrorCode::kCorruptData, "the tar has changed since it was indexed");
  }

  const TarSource& source_;
  io::Files& files_;
  const std::int64_t max_file_bytes_;
  const std::string* opened_ = nullptr;  // the path of file_
  FileDescriptor file_;
  std::vector<std::byte> buffer_;  // keeps its memory from sample to sample
};

}  // namespace

Result<std::shared_ptr<TarSource>> TarSource::open(const Options& options,
                                                   std::shared_ptr<io::Files> files) {
  const Result<std::vector<std::string>> paths = find_tars(options.path);
  if (!paths) return forward_error(paths);
  std::vector<std::optional<Result<Indexed>>> indexed(paths->size());
  for_each_in_threads(paths->size(), [&](std::size_t i) {
    try {
      indexed[i].emplace(index_tar((*paths)[i], options, *files));
    } catch (...) {
      indexed[i].emplace(tl::unexpected<Error>(caught_error()));
    }
  });
  std::shared_ptr<TarSource> source(new TarSource());
  source->files_ = std::move(files);
  source->max_file_bytes_ = options.max_file_bytes;
  for (std::size_t i = 0; i < paths->size(); ++i) {
    Result<Indexed>& result = *indexed[i];
    if (!result) return failed_at((*paths)[i], result.error());
    if (result->scanned) ++source->scanned_;
    if (Status status = source->add(options, {(*paths)[i], std::move(result->index)}); !status) {
      return forward_error(status);
    }
  }
  if (source->size() == 0) {
    return fail(ErrorCode::kNotFound, "{} holds no sample whose image is decoded here ({})",
                options.path, image_format_names());
  }
  if (Status status = source->check_labels(); !status) return forward_error(status);
  return source;
}

Status TarSource::add(const Options& options, Tar tar) {
  if (tar.index.other_count > 0 && !options.skip_other_formats) {
    return fail(ErrorCode::kNotSupported,
                "{}: the image at offset {} is of a format that is not decoded here ({} are): "
                "convert it, or leave such samples out with skip_other_formats",
                tar.path, tar.index.other_offset, image_format_names());
  }
  skipped_ += tar.index.other_count;
  fingerprint_ = XXH3_64bits_withSeed(tar.index.samples.data(),
                                      tar.index.samples.size() * sizeof(TarSample), fingerprint_);
  ends_.push_back((ends_.empty() ? 0 : ends_.back()) + tar.index.samples.size());
  tars_.push_back(std::move(tar));
  return {};
}

/// A sample without a label among others that have one would get a wrong one.
Status TarSource::check_labels() {
  std::optional<std::uint64_t> without;
  std::uint64_t index = 0;
  for (const Tar& tar : tars_) {
    for (const TarSample& sample : tar.index.samples) {
      if (sample.label != TarSample::kNoLabel) {
        has_labels_ = true;
      } else if (tar.index.is_cut(sample)) {
        // It will not be loaded.
      } else if (!without) {
        without = index;
      }
      ++index;
    }
  }
  if (!has_labels_ || !without) return {};
  return fail(ErrorCode::kCorruptData, "{}: the sample has no .cls, others have one",
              locate(*without));
}

std::vector<std::string> TarSource::left_out() const {
  std::uint64_t empty = 0;
  std::uint64_t orphans = 0;
  const Tar* first_empty = nullptr;
  const Tar* first_orphan = nullptr;
  for (const Tar& tar : tars_) {
    if (tar.index.samples.empty() && tar.index.other_count == 0) {
      if (empty++ == 0) first_empty = &tar;
    }
    if (tar.index.orphan_count > 0 && orphans == 0) first_orphan = &tar;
    orphans += tar.index.orphan_count;
  }
  std::vector<std::string> lines;
  if (empty > 0) {
    lines.push_back(fmt::format("tars without a sample: {} of {}, the first is {}", empty,
                                tars_.size(), first_empty->path));
  }
  if (orphans > 0) {
    lines.push_back(
        fmt::format("labels without an image, left out: {}, the first in {} at offset {}", orphans,
                    first_orphan->path, first_orphan->index.orphan_offset));
  }
  if (skipped_ > 0) {
    lines.push_back(
        fmt::format("samples in formats that are not decoded here, left out: {}", skipped_));
  }
  return lines;
}

TarSource::Place TarSource::place(std::uint64_t index) const {
  const auto in = std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin();
  const auto tar = static_cast<std::size_t>(in);
  const std::uint64_t first = tar == 0 ? 0 : ends_[tar - 1];
  return {tars_[tar].path, tars_[tar].index, tars_[tar].index.samples[index - first]};
}

std::int64_t TarSource::label(std::uint64_t index) const {
  return has_labels_ ? place(index).sample.label : 0;
}

std::string TarSource::locate(std::uint64_t index) const {
  const Place where = place(index);
  return fmt::format("{} at offset {}", where.path, where.sample.offset);
}

Result<std::unique_ptr<SampleReader>> TarSource::open_reader() {
  return std::unique_ptr<SampleReader>(
      std::make_unique<TarReader>(*this, *files_, max_file_bytes_));
}

}  // namespace unstarve::feed
