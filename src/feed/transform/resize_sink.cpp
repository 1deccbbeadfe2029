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
  frame_ = geometry.frame;
  const ImageSize size = {frame_.left + window.width + frame_.right,
                          frame_.top + window.height + frame_.bottom};
  const std::ptrdiff_t row_bytes = std::ptrdiff_t{size.width} * kChannels;
  framed_ = {out, row_bytes, size};
  window_ = {out + row_bytes * frame_.top + std::ptrdiff_t{kChannels} * frame_.left,
             row_bytes,
             {window.width, window.height}};
  surround_ = geometry.surround;
  inside_ = {visible.x - window.x, visible.y - window.y, visible.width, visible.height};
  flip_ = geometry.flip;
  if (flip_) inside_.x = window.width - inside_.x - visible.width;
  if (geometry.vertical_flip) inside_.y = window.height - inside_.y - visible.height;
  const int first_row = geometry.vertical_flip ? inside_.y + visible.height - 1 : inside_.y;
  out_stride_ = geometry.vertical_flip ? -row_bytes : row_bytes;
  out_ = window_.first + row_bytes * first_row + std::ptrdiff_t{kChannels} * inside_.x;
  const bool copies = geometry.target.width == geometry.crop.width &&
                      geometry.target.height == geometry.crop.height;
  const Box region = copies ? begin_copy(geometry.crop, visible) : begin_resize(geometry, visible);
  spent_ns_ = clock_.now_ns() - begun_ns;
  return region;
}

void ResizeSink::finish() {
  const std::int64_t begun_ns = clock_.now_ns();
  surround_pixels(surround_, inside_, window_);
  surround_pixels(frame_.surround,
                  {frame_.left, frame_.top, window_.size.width, window_.size.height}, framed_);
  spent_ns_ += clock_.now_ns() - begun_ns;
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
