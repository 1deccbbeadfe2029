#include "feed/source/npy_source.h"

#include <fcntl.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include <xxhash.h>

#include "base/io/read.h"
#include "base/units.h"
#include "feed/data/read_hint.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {
namespace {

constexpr std::uint64_t kMaxRowBytes = std::uint64_t{1} << 30;

struct Opened {
  FileDescriptor file;
  NpyHeader header;
  std::uint64_t row_bytes = 0;
  std::uint64_t digest = 0;  // of what says which file it is
};

Result<Opened> open_array(const std::string& path, io::Files& files) {
  Opened array;
  Result<io::OpenFile> opened = io::open_regular(files, path, O_RDONLY);
  if (!opened) return forward_error(opened);
  array.file = std::move(opened->file);
  std::vector<std::byte> head(kNpyHeadBytes);
  const Result<std::size_t> got = io::read_available(files, array.file.get(), 0, head);
  if (!got) return forward_error(got);
  Result<NpyHeader> header = NpyHeader::parse(std::span(head).first(*got));
  if (!header) return forward_error(header);
  array.header = std::move(*header);
  array.row_bytes = array.header.item_bytes;
  for (std::size_t axis = 1; axis < array.header.shape.size(); ++axis) {
    array.row_bytes *= array.header.shape[axis];
  }
  if (array.row_bytes == 0 || array.header.shape[0] == 0) {
    return fail(ErrorCode::kInvalidArgument, "the array holds nothing");
  }
  if (array.row_bytes > kMaxRowBytes) {
    return fail(ErrorCode::kNotSupported, "a row has {} bytes, the limit is {}", array.row_bytes,
                kMaxRowBytes);
  }
  const std::uint64_t size = opened->state.size;
  const std::uint64_t wanted = array.row_bytes * array.header.shape[0];
  if (size - array.header.data_offset != wanted) {
    return fail(ErrorCode::kCorruptData, "the array has {} bytes, the file holds {}", wanted,
                size - array.header.data_offset);
  }
  const std::int64_t modified_ns = opened->state.modified_ns;
  const std::array<std::int64_t, 3> stamp = {static_cast<std::int64_t>(size),
                                             modified_ns / kSecondNs, modified_ns % kSecondNs};
  array.digest = XXH3_64bits_withSeed(head.data(), array.header.data_offset,
                                      XXH3_64bits(stamp.data(), sizeof(stamp)));
  return array;
}

/// One whole number of 1 to 8 bytes, little-endian.
std::int64_t number_at(const std::byte* bytes, std::uint64_t size, bool is_signed) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, static_cast<std::size_t>(size));
  const auto unused = static_cast<int>(64 - 8 * size);
  const auto shifted = static_cast<std::int64_t>(value << unused);
  return is_signed ? shifted >> unused : static_cast<std::int64_t>(value);
}

class NpyReader final : public SampleReader {
 public:
  NpyReader(io::Files& files, int fd, const NpyHeader& header, std::uint64_t row_bytes)
      : files_(files), fd_(fd), header_(header), buffer_(static_cast<std::size_t>(row_bytes)) {
    const std::vector<std::uint64_t>& shape = header.shape;
    // Larger images than any decoder makes are left as arrays.
    if (header.type.substr(1) == "u1" && shape.size() == 4 && shape[3] == 3 && shape[1] < 65536 &&
        shape[2] < 65536) {
      image_ = {static_cast<int>(shape[2]), static_cast<int>(shape[1])};
    }
  }

  Result<EncodedSample> read(std::uint64_t index) override {
    const Result<std::size_t> got =
        io::read_available(files_, fd_, header_.data_offset + index * buffer_.size(), buffer_);
    if (!got) return forward_error(got);
    if (*got != buffer_.size()) return fail(ErrorCode::kCorruptData, "the file has become shorter");
    EncodedSample sample{SampleForm::kTensor, buffer_};
    sample.image = image_;
    return sample;
  }

  ReadHint hint(std::uint64_t index) override {
    return hint_range(files_, fd_, header_.data_offset + index * buffer_.size(), buffer_.size());
  }

 private:
  io::Files& files_;
  int fd_;
  const NpyHeader& header_;
  std::vector<std::byte> buffer_;
  ImageSize image_;
};

}  // namespace

Result<std::shared_ptr<NpySource>> NpySource::open(const std::string& path,
                                                   std::shared_ptr<io::Files> files) {
  Result<Opened> array = open_array(path, *files);
  if (!array) return failed_at(path, array.error());
  std::shared_ptr<NpySource> source(new NpySource());
  source->path_ = path;
  source->files_ = std::move(files);
  source->file_ = std::move(array->file);
  source->header_ = std::move(array->header);
  source->row_bytes_ = array->row_bytes;
  source->fingerprint_ = array->digest;
  const std::string beside = std::filesystem::path(path).replace_filename("labels.npy").string();
  if (beside != path) {
    if (Status status = source->read_labels(beside); !status)
      return failed_at(beside, status.error());
  }
  return source;
}

Status NpySource::read_labels(const std::string& path) {
  Result<Opened> array = open_array(path, *files_);
  if (!array && array.error().code == ErrorCode::kNotFound) return {};
  if (!array) return forward_error(array);
  const NpyHeader& header = array->header;
  if (header.shape.size() != 1 || header.shape[0] != size() || header.type[1] == 'f') {
    return fail(ErrorCode::kInvalidArgument, "labels must be {} whole numbers in one axis", size());
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(header.item_bytes * size()));
  const Result<std::size_t> got =
      io::read_available(*files_, array->file.get(), header.data_offset, bytes);
  if (!got) return forward_error(got);
  if (*got != bytes.size()) return fail(ErrorCode::kCorruptData, "the file has become shorter");
  labels_.resize(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    labels_[i] = number_at(&bytes[i * header.item_bytes], header.item_bytes, header.type[1] == 'i');
  }
  fingerprint_ = XXH3_64bits_withSeed(bytes.data(), bytes.size(), fingerprint_);
  return {};
}

std::string NpySource::locate(std::uint64_t index) const {
  return fmt::format("{} at offset {}", path_, header_.data_offset + index * row_bytes_);
}

Result<std::unique_ptr<SampleReader>> NpySource::open_reader() {
  return std::unique_ptr<SampleReader>(
      std::make_unique<NpyReader>(*files_, file_.get(), header_, row_bytes_));
}

}  // namespace unstarve::feed
