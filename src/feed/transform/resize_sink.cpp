#include "feed/transform/resize_sink.h"

#include <algorithm>
#include <cstring>

namespace unstarve::feed {
namespace {

using kernels::kChannels;

/// The part of the window that lies inside the target, in the target's coordinates.
Box visible_part(const Box& window, ImageSize target) {
  const int left = std::max(window.x, 0);
  const int top = std::max(window.y, 0);
  return {left, top, std::min(window.x + window.width, target.width) - left,
          std::min(window.y + window.height, target.height) - top};
}

}  // namespace

Box ResizeSink::begin(const SampleGeometry& geometry, std::uint8_t* out) {
  const std::int64_t begun_ns = clock_.now_ns();
  const Box& window = geometry.window;
  const Box visible = visible_part(window, geometry.target);
  const std::ptrdiff_t row_bytes = std::ptrdiff_t{window.width} * kChannels;
  if (visible.width != window.width || visible.height != window.height) {
    std::memset(out, 0, static_cast<std::size_t>(row_bytes * window.height));
  }
  const int left =
      geometry.flip ? window.x + window.width - visible.x - visible.width : visible.x - window.x;
  const int top = visible.y - window.y;
  out_stride_ = geometry.vertical_flip ? -row_bytes : row_bytes;
  out_ = out + (geometry.vertical_flip ? window.height - 1 - top : top) * row_bytes +
         std::ptrdiff_t{left} * kChannels;
  flip_ = geometry.flip;
  const bool copies = geometry.target.width == geometry.crop.width &&
                      geometry.target.height == geometry.crop.height;
  const Box region = copies ? begin_copy(geometry.crop, visible) : begin_resize(geometry, visible);
  spent_ns_ = clock_.now_ns() - begun_ns;
  return region;
}

Box ResizeSink::begin_copy(const Box& crop, const Box& visible) {
  way_ = Way::kCopy;
  width_ = visible.width;
  return {crop.x + visible.x, crop.y + visible.y, visible.width, visible.height};
}

Box ResizeSink::begin_resize(const SampleGeometry& geometry, const Box& visible) {
  const Box& crop = geometry.crop;
  const kernels::AxisRequest x = {.source_size = crop.width,
                                  .target_size = geometry.target.width,
                                  .window_first = visible.x,
                                  .window_count = visible.width,
                                  .reversed = geometry.flip};
  const kernels::AxisRequest y = {.source_size = crop.height,
                                  .target_size = geometry.target.height,
                                  .window_first = visible.y,
                                  .window_count = visible.height,
                                  .reversed = false};
  const auto region = [&crop](const auto& columns, const auto& rows) {
    return Box{crop.x + columns.source_first, crop.y + rows.source_first, columns.source_count,
               rows.source_count};
  };
  if (geometry.interpolation == Interpolation::kBicubic) {
    way_ = Way::kBicubic;
    bicubic_.begin(x, y);
    bicubic_.set_output(out_, out_stride_);
    return region(bicubic_.x_axis(), bicubic_.y_axis());
  }
  way_ = Way::kBilinear;
  bilinear_.begin(x, y);
  bilinear_.set_output(out_, out_stride_);
  return region(bilinear_.x_plan(), bilinear_.y_plan());
}

void ResizeSink::rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) {
  const std::int64_t begun_ns = clock_.now_ns();
  switch (way_) {
    case Way::kCopy: copy_rows(first, stride, count); break;
    case Way::kBilinear: bilinear_.rows(first, stride, count); break;
    case Way::kBicubic: bicubic_.rows(first, stride, count); break;
  }
  spent_ns_ += clock_.now_ns() - begun_ns;
}

void ResizeSink::copy_rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) {
  for (int row = 0; row < count; ++row, first += stride, out_ += out_stride_) {
    if (!flip_) {
      std::memcpy(out_, first, static_cast<std::size_t>(width_) * kChannels);
      continue;
    }
    const std::uint8_t* source = first + std::ptrdiff_t{width_ - 1} * kChannels;
    std::uint8_t* target = out_;
    for (int pixel = 0; pixel < width_; ++pixel, source -= kChannels, target += kChannels) {
      std::copy_n(source, kChannels, target);
    }
  }
}

}  // namespace unstarve::feed
