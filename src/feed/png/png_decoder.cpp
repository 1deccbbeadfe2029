#include "feed/png/png_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "feed/data/room_in.h"
#include "feed/png/png_pixels.h"
#include "kernels/png/unfilter.h"
#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kRowPadding;
using kernels::kStripRows;

namespace {

constexpr int kFilters = 5;
/// A byte of a deflate stream is at most so many bytes of its pixels.
constexpr std::size_t kMostOfAByte = 1032;

}  // namespace

Result<ImageSize> PngDecoder::open(std::span<const std::byte> file) {
  if (Status status = read_png(file, max_pixels_, png_); !status) return forward_error(status);
  if (png_.colour == PngColour::kGrey && png_.depth == 16) {
    return fail(ErrorCode::kNotSupported, "a PNG of 16 bits of grey: 1 to 8 are decoded");
  }
  return ImageSize{png_.width, png_.height};
}

Status PngDecoder::decode(const Box& region, RowSink& sink) {
  if (Status status = inflate(); !status) return status;
  const std::size_t widest = png_.bytes_of_a_row(png_.width) + kernels::kUnfilterPadding;
  zeros_.resize(std::max(zeros_.size(), widest));
  return png_.is_interlaced ? decode_passes(region, sink) : decode_rows(region, sink);
}

std::span<const std::byte> PngDecoder::whole_stream() {
  if (png_.data.size() == 1) return png_.data.front();
  stream_.clear();
  for (const auto piece : png_.data) stream_.insert(stream_.end(), piece.begin(), piece.end());
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
    return fail(ErrorCode::kCorruptData, "the file ends before the image does: it was cut short");
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

Status PngDecoder::decode_rows(const Box& region, RowSink& sink) {
  const std::size_t stride = static_cast<std::size_t>(region.width) * 3;
  rows_.resize(std::max(rows_.size(), stride * kStripRows + kRowPadding));
  // No pixel is told by one to its right.
  const std::size_t needed = png_.bytes_of_a_row(region.x + region.width);
  const std::size_t raw_stride = png_.bytes_of_a_row(png_.width) + 1;
  auto* row = reinterpret_cast<std::uint8_t*>(raw_.data());
  const std::uint8_t* above = zeros_.data();
  int ready = 0;  // rows of RGB
  for (int y = 0; y < region.y + region.height; ++y, row += raw_stride) {
    if (Status status = unfilter_row(row, above, needed); !status) return status;
    above = row + 1;
    if (y < region.y) continue;
    std::uint8_t* const rgb = rows_.data() + stride * static_cast<std::size_t>(ready);
    if (Status status = rgb_of(png_, above, region.x, region.width, rgb); !status) return status;
    if (++ready < kStripRows && y + 1 < region.y + region.height) continue;
    sink.rows(rows_.data(), static_cast<std::ptrdiff_t>(stride), ready);
    ready = 0;
  }
  return {};
}

Status PngDecoder::decode_passes(const Box& region, RowSink& sink) {
  const std::size_t stride = static_cast<std::size_t>(png_.width) * 3;
  const std::size_t bytes = stride * static_cast<std::size_t>(png_.height);
  placed_.resize(std::max(placed_.size(), bytes + kRowPadding));
  auto* rows = reinterpret_cast<std::uint8_t*>(raw_.data());
  for (const Pass& pass : passes()) {
    if (Status status = place(pass, rows); !status) return status;
    rows += (png_.bytes_of_a_row(pass.width) + 1) * static_cast<std::size_t>(pass.height);
  }
  for (int y = region.y; y < region.y + region.height; y += kStripRows) {
    const int count = std::min(kStripRows, region.y + region.height - y);
    const std::size_t first = stride * static_cast<std::size_t>(y);
    sink.rows(placed_.data() + first + std::size_t{3} * static_cast<std::size_t>(region.x),
              static_cast<std::ptrdiff_t>(stride), count);
  }
  return {};
}

Status PngDecoder::place(const Pass& pass, std::uint8_t* rows) {
  const std::size_t bytes = png_.bytes_of_a_row(pass.width);
  rows_.resize(std::max(rows_.size(), std::size_t{3} * static_cast<std::size_t>(pass.width)));
  const std::uint8_t* above = zeros_.data();
  for (int i = 0; i < pass.height; ++i, rows += bytes + 1) {
    if (Status status = unfilter_row(rows, above, bytes); !status) return status;
    above = rows + 1;
    if (Status status = rgb_of(png_, above, 0, pass.width, rows_.data()); !status) return status;
    const std::int64_t y = pass.y + std::int64_t{i} * pass.y_step;
    std::uint8_t* to = placed_.data() + 3 * (y * png_.width + pass.x);
    for (int x = 0; x < pass.width; ++x, to += std::ptrdiff_t{3} * pass.x_step) {
      std::memcpy(to, rows_.data() + std::ptrdiff_t{3} * x, 3);
    }
  }
  return {};
}

}  // namespace unstarve::feed
