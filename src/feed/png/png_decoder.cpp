#include "feed/png/png_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "feed/data/decode_errors.h"
#include "feed/data/room_in.h"
#include "kernels/png/unfilter.h"
#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kRowPadding;
using kernels::kStripRows;

namespace {

constexpr int kFilters = 5;
/// A byte of a deflate stream is at most so many bytes of its pixels.
constexpr std::size_t kMostOfAByte = 1032;

/// Leaves rows one behind the other.
class CopiedRows final : public RowSink {
 public:
  CopiedRows(std::size_t bytes, std::uint8_t* to) : bytes_(bytes), to_(to) {}
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override {
    for (int row = 0; row < count; ++row, to_ += bytes_) {
      std::memcpy(to_, first + row * stride, bytes_);
    }
  }

 private:
  const std::size_t bytes_;
  std::uint8_t* to_;
};

}  // namespace

Result<ImageSize> PngDecoder::open(std::span<const std::byte> file) {
  if (Status status = read_png(file, max_pixels_, png_); !status) return forward_error(status);
  if (png_.colour == PngColour::kGrey && png_.depth == 16) {
    return fail(ErrorCode::kNotSupported, "a PNG of 16 bits of grey: 1 to 8 are decoded");
  }
  return ImageSize{png_.width, png_.height};
}

bool PngDecoder::ends_soundly() const {
  return png_.ends_with_pixels &&
         std::all_of(png_.data.begin(), png_.data.end(),
                     [](const PngChunk& chunk) { return chunk.is_sound(); });
}

Status PngDecoder::decode(const Box& region, RowSink& sink) {
  return decode_as(PngPixels::kRgb, region, sink);
}

Status PngDecoder::decode_stored(std::span<std::uint8_t> out) {
  const std::size_t row = static_cast<std::size_t>(png_.width) *
                          static_cast<std::size_t>(channels_of(png_, PngPixels::kStored));
  const std::size_t bytes = row * static_cast<std::size_t>(png_.height);
  if (out.size() != bytes) {
    return fail(ErrorCode::kInvalidArgument, "the pixels take {} bytes, not {}", bytes, out.size());
  }
  CopiedRows sink(row, out.data());
  return decode_as(PngPixels::kStored, {0, 0, png_.width, png_.height}, sink);
}

Status PngDecoder::decode_as(PngPixels pixels, const Box& region, RowSink& sink) {
  if (Status status = inflate(); !status) return status;
  const std::size_t widest = png_.bytes_of_a_row(png_.width) + kernels::kUnfilterPadding;
  zeros_.resize(std::max(zeros_.size(), widest));
  return png_.is_interlaced ? decode_passes(pixels, region, sink)
                            : decode_rows(pixels, region, sink);
}

std::span<const std::byte> PngDecoder::whole_stream() {
  if (png_.data.size() == 1) return png_.data.front().held();
  stream_.clear();
  for (const PngChunk& chunk : png_.data) {
    stream_.insert(stream_.end(), chunk.held().begin(), chunk.held().end());
  }
  return stream_;
}

Status PngDecoder::inflate() {
  std::size_t bytes = 0;
  for (const Pass& pass : passes()) {
    bytes += (png_.bytes_of_a_row(pass.width) + 1) * static_cast<std::size_t>(pass.height);
  }
  const std::span<const std::byte> stream = whole_stream();
  // Before memory is taken for it.
  if (bytes / kMostOfAByte > stream.size()) {
    return cut_short();
  }
  const auto raw = room_in(raw_, bytes + kernels::kUnfilterPadding);
  return inflater_.inflate(stream, raw.first(bytes));
}

std::vector<PngDecoder::Pass> PngDecoder::passes() const {
  if (!png_.is_interlaced) return {{.width = png_.width, .height = png_.height}};
  // Adam7: x, y and the steps between pixels.
  constexpr std::array<std::array<int, 4>, 7> kGrids = {{{0, 0, 8, 8},
                                                         {4, 0, 8, 8},
                                                         {0, 4, 4, 8},
                                                         {2, 0, 4, 4},
                                                         {0, 2, 2, 4},
                                                         {1, 0, 2, 2},
                                                         {0, 1, 1, 2}}};
  std::vector<Pass> result;
  for (const auto& [x, y, x_step, y_step] : kGrids) {
    if (x >= png_.width || y >= png_.height) continue;  // it has no rows
    result.push_back({x, y, x_step, y_step, (png_.width - x - 1) / x_step + 1,
                      (png_.height - y - 1) / y_step + 1});
  }
  return result;
}

Status PngDecoder::unfilter_row(std::uint8_t* row, const std::uint8_t* above,
                                std::size_t bytes) const {
  if (*row >= kFilters) return fail(ErrorCode::kCorruptData, "a PNG with a filter {}", *row);
  const auto step = static_cast<std::size_t>(std::max(1, png_.bits_of_a_pixel() / 8));
  kernels::unfilter(static_cast<kernels::RowFilter>(*row), row + 1, above, bytes, step);
  return {};
}

Status PngDecoder::decode_rows(PngPixels pixels, const Box& region, RowSink& sink) {
  const auto channels = static_cast<std::size_t>(channels_of(png_, pixels));
  const std::size_t stride = static_cast<std::size_t>(region.width) * channels;
  rows_.resize(std::max(rows_.size(), stride * kStripRows + kRowPadding));
  // No pixel is told by one to its right.
  const std::size_t needed = png_.bytes_of_a_row(region.x + region.width);
  const std::size_t raw_stride = png_.bytes_of_a_row(png_.width) + 1;
  auto* row = reinterpret_cast<std::uint8_t*>(raw_.data());
  const std::uint8_t* above = zeros_.data();
  int ready = 0;  // rows of pixels
  for (int y = 0; y < region.y + region.height; ++y, row += raw_stride) {
    if (Status status = unfilter_row(row, above, needed); !status) return status;
    above = row + 1;
    if (y < region.y) continue;
    std::uint8_t* const out = rows_.data() + stride * static_cast<std::size_t>(ready);
    const Status written = write_pixels(png_, pixels, above, {region.x, region.width}, out);
    if (!written) return written;
    if (++ready < kStripRows && y + 1 < region.y + region.height) continue;
    sink.rows(rows_.data(), static_cast<std::ptrdiff_t>(stride), ready);
    ready = 0;
  }
  return {};
}

Status PngDecoder::decode_passes(PngPixels pixels, const Box& region, RowSink& sink) {
  const auto channels = static_cast<std::size_t>(channels_of(png_, pixels));
  const std::size_t stride = static_cast<std::size_t>(png_.width) * channels;
  const std::size_t bytes = stride * static_cast<std::size_t>(png_.height);
  placed_.resize(std::max(placed_.size(), bytes + kRowPadding));
  auto* rows = reinterpret_cast<std::uint8_t*>(raw_.data());
  for (const Pass& pass : passes()) {
    if (Status status = place(pixels, pass, rows); !status) return status;
    rows += (png_.bytes_of_a_row(pass.width) + 1) * static_cast<std::size_t>(pass.height);
  }
  for (int y = region.y; y < region.y + region.height; y += kStripRows) {
    const int count = std::min(kStripRows, region.y + region.height - y);
    const std::size_t first = stride * static_cast<std::size_t>(y);
    sink.rows(placed_.data() + first + channels * static_cast<std::size_t>(region.x),
              static_cast<std::ptrdiff_t>(stride), count);
  }
  return {};
}

Status PngDecoder::place(PngPixels pixels, const Pass& pass, std::uint8_t* rows) {
  const auto channels = static_cast<std::size_t>(channels_of(png_, pixels));
  const std::size_t bytes = png_.bytes_of_a_row(pass.width);
  rows_.resize(std::max(rows_.size(), channels * static_cast<std::size_t>(pass.width)));
  const std::uint8_t* above = zeros_.data();
  for (int i = 0; i < pass.height; ++i, rows += bytes + 1) {
    if (Status status = unfilter_row(rows, above, bytes); !status) return status;
    above = rows + 1;
    const Status written = write_pixels(png_, pixels, above, {0, pass.width}, rows_.data());
    if (!written) return written;
    const std::size_t first = static_cast<std::size_t>(pass.y + std::int64_t{i} * pass.y_step) *
                                  static_cast<std::size_t>(png_.width) +
                              static_cast<std::size_t>(pass.x);
    const std::uint8_t* from = rows_.data();
    std::uint8_t* to = placed_.data() + channels * first;
    for (int x = 0; x < pass.width; ++x, from += channels) {
      std::memcpy(to, from, channels);
      to += channels * static_cast<std::size_t>(pass.x_step);
    }
  }
  return {};
}

}  // namespace unstarve::feed
