#include "feed/transform/resize_sink.h"

namespace unstarve::feed {

Box ResizeSink::begin(const SampleGeometry& geometry, std::uint8_t* out) {
  const std::int64_t begun_ns = clock_.now_ns();
  const Box& crop = geometry.crop;
  const Box& window = geometry.window;
  resizer_.begin({.source_size = crop.width,
                  .target_size = geometry.target.width,
                  .window_first = window.x,
                  .window_count = window.width,
                  .reversed = geometry.flip},
                 {.source_size = crop.height,
                  .target_size = geometry.target.height,
                  .window_first = window.y,
                  .window_count = window.height,
                  .reversed = false});
  resizer_.set_output(out, std::ptrdiff_t{window.width} * kernels::kChannels);
  spent_ns_ = clock_.now_ns() - begun_ns;
  return {crop.x + resizer_.x_plan().source_first, crop.y + resizer_.y_plan().source_first,
          resizer_.x_plan().source_count, resizer_.y_plan().source_count};
}

void ResizeSink::rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) {
  const std::int64_t begun_ns = clock_.now_ns();
  resizer_.rows(first, stride, count);
  spent_ns_ += clock_.now_ns() - begun_ns;
}

}  // namespace unstarve::feed
