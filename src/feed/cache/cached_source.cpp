#include "feed/cache/cached_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/io/read.h"
#include "base/units.h"
#include "feed/data/read_hint.h"
#include "feed/data/room_in.h"
#include "feed/shard/checksum.h"

namespace unstarve::feed {
namespace {

constexpr std::int64_t kSettleNs = 20'000'000;

/// Equal only for data sets with the same names, labels and places.
std::uint64_t key_of(const SampleSource& files) {
  std::string text = fmt::format("{:016x} {}", files.fingerprint(), files.size());
  if (files.size() > 0) {
    for (const std::uint64_t index : {std::uint64_t{0}, files.size() - 1}) {
      std::error_code ignored;  // then the relative path has to do
      const std::string path = files.locate(index);
      const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
      text += "\n" + (ignored ? path : absolute.lexically_normal().string());
    }
  }
  return checksum_of(std::as_bytes(std::span<const char>(text)));
}

}  // namespace

/// One thread's view of a CachedSource.
class CachedReader final : public SampleReader {
 public:
  CachedReader(CachedSource& source, std::unique_ptr<SampleReader> files)
      : source_(source), files_(std::move(files)) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    index_ = index;
    item_.replaces = false;
    const Result<FileStamp> stamp = files_->stamp(index);
    if (!stamp) return files_->read(index);  // which says what is wrong with it
    stamp_ = *stamp;
    const std::optional<CacheEntry> entry = source_.folder_->entry(index);
    if (!entry || !is_of(*entry, stamp_) || too_large()) return read_file(Wish::kCopy);
    if (entry->state == static_cast<std::uint16_t>(CacheState::kRefused)) {
      return read_file(Wish::kNone);
    }
    entry_ = *entry;
    const Result<std::span<const std::byte>> head = read_head();
    if (!head) return original();
    source_.hits_.fetch_add(1, std::memory_order_relaxed);
    EncodedSample sample{SampleForm::kCoefficients, *head};
    sample.copy = CopyRole::kCopy;
    return sample;
  }

  Result<FileStamp> stamp(std::uint64_t index) override { return files_->stamp(index); }

  /// Whether the copy fits the file is for read() to find out.
  ReadHint hint(std::uint64_t index) override {
    const std::optional<CacheEntry> entry = source_.folder_->entry(index);
    if (!entry || entry->state != static_cast<std::uint16_t>(CacheState::kKept)) {
      return files_->hint(index);
    }
    const auto file = source_.folder_->copies(entry->file);
    if (!file) return files_->hint(index);
    return hint_range(source_.folder_->storage(), (*file)->get(), entry->offset, entry->size);
  }

  Result<std::span<const std::byte>> read_part(std::uint64_t offset, std::size_t size,
                                               std::vector<std::byte>& buffer) override {
    if (offset > entry_.size || size > entry_.size - offset) {
      return fail(ErrorCode::kCorruptData, "the copy ends before its parts do");
    }
    const std::span<std::byte> bytes = room_in(buffer, size);
    io::Files& storage = source_.folder_->storage();
    if (Status status = io::read_exactly(storage, copies_->get(), entry_.offset + offset, bytes);
        !status) {
      return forward_error(status);
    }
    return std::span<const std::byte>(bytes);
  }

  void keep(std::vector<std::byte>& payload, std::uint32_t head_size) override {
    item_.payload.swap(payload);
    put(head_size);
    item_.payload.swap(payload);
  }

  void refuse() override {
    item_.payload.clear();
    put(0);
  }

  Result<EncodedSample> original() override {
    source_.damaged_.fetch_add(1, std::memory_order_relaxed);
    item_.replaces = true;
    return read_file(Wish::kCopy);
  }

 private:
  enum class Wish { kNone, kCopy };

  bool too_large() const {
    return stamp_.size > static_cast<std::uint64_t>(source_.options_.max_file_bytes);
  }

  /// Its checksum, which is the entry's, covers those of the rows: bytes that are another copy's,
  /// because the disk lost what was written last, are found here.
  Result<std::span<const std::byte>> read_head() {
    auto file = source_.folder_->copies(entry_.file);
    if (!file) return forward_error(file);
    copies_ = std::move(*file);
    Result<std::span<const std::byte>> head = read_part(0, entry_.head_size, buffer_);
    if (head && checksum_of(*head) != entry_.head_checksum) {
      return fail(ErrorCode::kCorruptData, "the copy is damaged (its checksum differs)");
    }
    return head;
  }

  Result<EncodedSample> read_file(Wish wish) {
    Result<EncodedSample> sample = files_->read(index_);
    if (!sample || sample->form != SampleForm::kFile || wish == Wish::kNone) return sample;
    if (sample->bytes.size() == stamp_.size && is_settled() && source_.writer_.wants()) {
      sample->copy = CopyRole::kWanted;
    }
    return sample;
  }

  /// Whether a change of the file from now on shows in its stamp. Times move in steps of up to 10
  /// ms; where both are whole seconds, the file system may know no finer ones.
  bool is_settled() const {
    const std::int64_t changed_ns = std::max(stamp_.mtime_ns, stamp_.ctime_ns);
    const bool whole = stamp_.mtime_ns % kSecondNs == 0 && stamp_.ctime_ns % kSecondNs == 0;
    const std::int64_t settle_ns = whole ? 2 * kSecondNs : kSettleNs;
    return changed_ns + settle_ns <= source_.folder_->storage().now_ns();
  }

  /// If the file is still what it was before it was read, the item is of the file in `stamp_`.
  void put(std::uint32_t head_size) {
    const Result<FileStamp> after = files_->stamp(index_);
    if (!after || *after != stamp_) return;
    item_.index = index_;
    item_.stamp = stamp_;
    item_.head_size = head_size;
    source_.writer_.put(item_);
  }

  CachedSource& source_;
  std::unique_ptr<SampleReader> files_;
  std::uint64_t index_ = 0;  // these of the sample read last
  FileStamp stamp_;
  CacheEntry entry_;
  std::shared_ptr<const FileDescriptor> copies_;  // shared with the folder
  std::vector<std::byte> buffer_;                 // the head
  CacheItem item_;
};

Result<std::shared_ptr<CachedSource>> CachedSource::open(const Options& options,
                                                         std::shared_ptr<SampleSource> files,
                                                         const Seams& seams) {
  Result<std::unique_ptr<CacheFolder>> folder =
      CacheFolder::open(seams.storage, options.directory, {key_of(*files), files->size()});
  if (!folder) return forward_error(folder);
  return std::shared_ptr<CachedSource>(
      new CachedSource(options, std::move(files), std::move(*folder), seams));
}

CachedSource::CachedSource(const Options& options, std::shared_ptr<SampleSource> files,
                           std::unique_ptr<CacheFolder> folder, const Seams& seams)
    : options_(options),
      files_(std::move(files)),
      folder_(std::move(folder)),
      clock_(seams.clock),
      writer_({*folder_, static_cast<std::uint64_t>(options.max_bytes),
               [this](std::uint64_t index) { return files_->locate(index); },
               [this](std::uint64_t index) { return files_->label(index); }, seams.start_thread,
               *clock_}) {}

Result<std::unique_ptr<SampleReader>> CachedSource::open_reader() {
  Result<std::unique_ptr<SampleReader>> files = files_->open_reader();
  if (!files) return files;
  return std::unique_ptr<SampleReader>(std::make_unique<CachedReader>(*this, std::move(*files)));
}

CacheStats CachedSource::stats() const {
  CacheStats stats;
  stats.on = true;
  stats.hits = hits_.load(std::memory_order_relaxed);
  stats.damaged = damaged_.load(std::memory_order_relaxed);
  writer_.add_to(stats);
  return stats;
}

}  // namespace unstarve::feed
