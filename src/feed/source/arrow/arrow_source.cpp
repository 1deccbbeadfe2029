#include "feed/source/arrow/arrow_source.h"

#include <utility>

#include "feed/formats/image_format.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {

namespace {

class ArrowReader final : public SampleReader {
 public:
  ArrowReader(const ImageColumn& column, io::Files& files, bool only_rgb)
      : column_(column), files_(files), only_rgb_(only_rgb) {}

  Result<EncodedSample> read(std::uint64_t index) override {
    const Result<ImageColumn::Row> row = column_.at(index);
    if (!row) return forward_error(row);
    const Result<std::span<const std::byte>> file = bytes_of(*row);
    if (!file) return forward_error(file);
    if (may_be_turned(*file)) {
      return fail(ErrorCode::kNotSupported, "its EXIF says how it is to be turned");
    }
    if (only_rgb_ && !is_rgb_image(*file)) {
      return fail(ErrorCode::kNotSupported, "it may have other colours than RGB");
    }
    return EncodedSample{SampleForm::kFile, *file};
  }

 private:
  Result<std::span<const std::byte>> bytes_of(const ImageColumn::Row& row) {
    if (row.bytes) {
      if (row.bytes->size() <= static_cast<std::size_t>(ArrowSource::kMaxFileBytes)) {
        return *row.bytes;
      }
      return fail(ErrorCode::kInvalidArgument, "the image has {} bytes, the limit is {}",
                  row.bytes->size(), ArrowSource::kMaxFileBytes);
    }
    if (!row.path) return fail(ErrorCode::kNotFound, "there is no image");
    path_.assign(*row.path);
    if (path_.find("://") != std::string::npos || path_.find('\0') != std::string::npos) {
      return fail(ErrorCode::kNotSupported, "{} is no path of a file", path_);
    }
    return read_file(files_, path_, ArrowSource::kMaxFileBytes, buffer_);
  }

  const ImageColumn& column_;
  io::Files& files_;
  const bool only_rgb_;
  std::string path_;  // both keep their memory from row to row
  std::vector<std::byte> buffer_;
};

}  // namespace

Result<std::shared_ptr<ArrowSource>> ArrowSource::open(std::shared_ptr<const ImageColumn> column,
                                                       std::shared_ptr<io::Files> files,
                                                       bool only_rgb) {
  if (column->size() == 0) return fail(ErrorCode::kInvalidArgument, "a column without a row");
  return std::shared_ptr<ArrowSource>(
      new ArrowSource(std::move(column), std::move(files), only_rgb));
}

ArrowSource::ArrowSource(std::shared_ptr<const ImageColumn> column,
                         std::shared_ptr<io::Files> files, bool only_rgb)
    : column_(std::move(column)), files_(std::move(files)), only_rgb_(only_rgb) {}

std::string ArrowSource::locate(std::uint64_t index) const {
  return fmt::format("row {} of the column of images", index);
}

Result<std::unique_ptr<SampleReader>> ArrowSource::open_reader() {
  return std::unique_ptr<SampleReader>(std::make_unique<ArrowReader>(*column_, *files_, only_rgb_));
}

}  // namespace unstarve::feed
