#include "feed/source/zip/zip_source.h"

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include <xxhash.h>

#include "base/io/read.h"
#include "feed/data/read_hint.h"
#include "feed/data/room_in.h"
#include "feed/formats/image_format.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {

namespace {

constexpr std::uint32_t kLocalMark = 0x04034B50;
constexpr std::string_view kOfMacOs = "__MACOSX/";  // each file's attributes, under its name

/// Inflates what has no header of its own, in one piece.
class Inflater {
 public:
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready_) ::inflateEnd(&stream_);
  }

  /// False: `from` is not what fills `to` exactly.
  bool inflate(std::span<const std::byte> from, std::span<std::byte> to) {
    constexpr int kNoHeader = -MAX_WBITS;
    const int begun = ready_ ? ::inflateReset(&stream_) : ::inflateInit2(&stream_, kNoHeader);
    if (begun != Z_OK) return false;
    ready_ = true;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
    stream_.avail_in = static_cast<uInt>(from.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = static_cast<uInt>(to.size());
    return ::inflate(&stream_, Z_FINISH) == Z_STREAM_END && stream_.avail_out == 0;
  }

 private:
  z_stream stream_ = {};
  bool ready_ = false;
};

class ZipReader final : public SampleReader {
 public:
  ZipReader(const std::vector<ZipEntry>& images, io::Files& files, int file,
            std::int64_t max_file_bytes)
      : images_(images), files_(files), file_(file), max_file_bytes_(max_file_bytes) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    const ZipEntry& image = images_[index];
    if (Status able = check(image); !able) return forward_error(able);
    const Result<std::uint64_t> begin = data_at(image);
    if (!begin) return forward_error(begin);
    const std::span<std::byte> stored = room_in(stored_, image.stored_bytes);
    if (Status read = io::read_exactly(files_, file_, *begin, stored); !read) {
      return forward_error(read);
    }
    if (image.method == ZipEntry::kStored) return EncodedSample{SampleForm::kFile, stored};
    const std::span<std::byte> bytes = room_in(inflated_, image.bytes);
    if (!inflater_.inflate(stored, bytes) || crc_of(bytes) != image.crc) {
      return fail(ErrorCode::kCorruptData, "it cannot be inflated: the zip is damaged there");
    }
    return EncodedSample{SampleForm::kFile, bytes};
  }

  ReadHint hint(std::uint64_t index) override {
    const ZipEntry& image = images_[index];
    return hint_range(files_, file_, image.header_at, image.stored_bytes);
  }

  /// The sample's own size, and the times of the zip: whatever changes it leaves no copy valid.
  Result<FileStamp> stamp(std::uint64_t index) override {
    Result<FileStamp> stamp = stamp_of(files_, file_);
    if (stamp) stamp->size = images_[index].bytes;
    return stamp;
  }

 private:
  Status check(const ZipEntry& image) const {
    if (image.is_encrypted) return fail(ErrorCode::kNotSupported, "it is encrypted");
    if (image.method != ZipEntry::kStored && image.method != ZipEntry::kDeflated) {
      return fail(ErrorCode::kNotSupported, "it is compressed by method {}: 0 and 8 are read",
                  image.method);
    }
    const auto most = static_cast<std::uint64_t>(max_file_bytes_);
    if (image.bytes > most || image.stored_bytes > most) {
      return fail(ErrorCode::kInvalidArgument, "the image has {} bytes, the limit is {}",
                  image.bytes, max_file_bytes_);
    }
    if (image.method == ZipEntry::kStored && image.bytes != image.stored_bytes) {
      return fail(ErrorCode::kCorruptData, "the zip says two sizes of it");
    }
    return {};
  }

  /// Behind the name and the extra field of the local header, which may differ from the
  /// directory's.
  Result<std::uint64_t> data_at(const ZipEntry& image) const {
    std::array<std::byte, ZipEntry::kLocalHeader> header;
    if (Status read = io::read_exactly(files_, file_, image.header_at, header); !read) {
      return forward_error(read);
    }
    std::uint32_t mark = 0;
    std::uint16_t name_bytes = 0;
    std::uint16_t extra_bytes = 0;
    std::memcpy(&mark, header.data(), sizeof(mark));
    std::memcpy(&name_bytes, header.data() + 26, sizeof(name_bytes));
    std::memcpy(&extra_bytes, header.data() + 28, sizeof(extra_bytes));
    if (mark != kLocalMark) {
      return fail(ErrorCode::kCorruptData, "the zip holds no file at offset {}", image.header_at);
    }
    return image.header_at + header.size() + name_bytes + extra_bytes;
  }

  static std::uint32_t crc_of(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  }

  const std::vector<ZipEntry>& images_;
  io::Files& files_;
  int file_;
  const std::int64_t max_file_bytes_;
  std::vector<std::byte> stored_;  // both keep their memory from sample to sample
  std::vector<std::byte> inflated_;
  Inflater inflater_;
};

/// The part of `name` behind `skipped` characters, up to the first slash; empty: it has none.
std::string folder_in(const std::string& name, std::size_t skipped) {
  const std::size_t slash = name.find('/', skipped);
  return slash == std::string::npos ? "" : name.substr(skipped, slash - skipped);
}

}  // namespace

Result<std::shared_ptr<ZipSource>> ZipSource::open(const Options& options,
                                                   std::shared_ptr<io::Files> files) {
  Result<io::OpenFile> file = io::open_regular(*files, options.path, O_RDONLY);
  if (!file) return failed_at(options.path, file.error());
  Result<std::vector<ZipEntry>> entries =
      read_zip_directory(*files, file->file.get(), file->state.size);
  if (!entries) return failed_at(options.path, entries.error());
  std::shared_ptr<ZipSource> source(new ZipSource());
  source->path_ = options.path;
  source->files_ = std::move(files);
  source->file_ = std::move(file->file);
  source->max_file_bytes_ = options.max_file_bytes;
  if (Status taken = source->take(*std::move(entries), options); !taken) {
    return failed_at(options.path, taken.error());
  }
  if (Status labelled = source->give_labels(); !labelled) {
    return failed_at(options.path, labelled.error());
  }
  return source;
}

Status ZipSource::take(std::vector<ZipEntry> entries, const Options& options) {
  for (ZipEntry& entry : entries) {
    if (entry.name.compare(0, kOfMacOs.size(), kOfMacOs) == 0) continue;
    switch (kind_of_name(entry.name)) {
      case NameKind::kImage: images_.push_back(std::move(entry)); break;
      case NameKind::kOtherImage:
        if (!options.skip_other_formats) {
          return fail(ErrorCode::kNotSupported,
                      "{} is of a format that is not decoded here ({} are): convert it, or leave "
                      "such files out with skip_other_formats",
                      entry.name, image_format_names());
        }
        ++skipped_;
        break;
      case NameKind::kNoImage: break;
    }
  }
  if (images_.empty()) {
    return fail(ErrorCode::kNotFound, "it holds no image that is decoded here ({})",
                image_format_names());
  }
  std::sort(images_.begin(), images_.end(),
            [](const ZipEntry& a, const ZipEntry& b) { return a.name < b.name; });
  for (const ZipEntry& image : images_) {
    fingerprint_ = XXH3_64bits_withSeed(image.name.data(), image.name.size(), fingerprint_);
    const std::array<std::uint64_t, 3> place = {image.header_at, image.bytes, image.crc};
    fingerprint_ = XXH3_64bits_withSeed(place.data(), sizeof(place), fingerprint_);
  }
  return {};
}

Status ZipSource::give_labels() {
  labels_.assign(images_.size(), 0);
  // What all names begin with, up to a slash, is no class: "train/cat/1.jpg", "train/dog/2.jpg".
  const std::string& first = images_.front().name;
  const std::string& last = images_.back().name;  // they are sorted
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  const std::string shared(first.begin(), differ);
  const std::size_t slash = shared.rfind('/');
  const std::size_t skipped = slash == std::string::npos ? 0 : slash + 1;
  std::map<std::string, std::int64_t> classes;
  for (const ZipEntry& image : images_) classes[folder_in(image.name, skipped)];
  if (classes.size() == 1) return {};  // all lie in one folder
  if (classes.count("") != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "of its images some lie in folders and some beside them, "
                "as {} does: a folder is a class",
                std::find_if(images_.begin(), images_.end(), [skipped](const ZipEntry& image) {
                  return folder_in(image.name, skipped).empty();
                })->name);
  }
  for (auto& [name, label] : classes) {
    label = static_cast<std::int64_t>(classes_.size());
    classes_.push_back(name);
  }
  for (std::size_t i = 0; i < images_.size(); ++i) {
    labels_[i] = classes[folder_in(images_[i].name, skipped)];
  }
  return {};
}

std::string ZipSource::locate(std::uint64_t index) const {
  return path_ + "/" + images_[index].name;
}

std::vector<std::string> ZipSource::left_out() const {
  if (skipped_ == 0) return {};
  return {fmt::format("images in formats that are not decoded here, left out: {}", skipped_)};
}

Result<std::unique_ptr<SampleReader>> ZipSource::open_reader() {
  return std::unique_ptr<SampleReader>(
      std::make_unique<ZipReader>(images_, *files_, file_.get(), max_file_bytes_));
}

}  // namespace unstarve::feed
