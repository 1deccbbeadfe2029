#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/image_decoder.h"
#include "feed/png/inflate.h"
#include "feed/png/png_file.h"
#include "feed/png/png_pixels.h"

namespace unstarve::feed {

/// Decodes rectangles of PNG files to RGB; pixels are those of PIL's convert("RGB").
/// Source: https://www.w3.org/TR/png-3/
/// Errors: kNotSupported for grey of 16 bits, animations and what else PIL alone should judge;
/// kCorruptData where the file is damaged or ends before its image does.
class PngDecoder final : public ImageDecoder {
 public:
  explicit PngDecoder(std::int64_t max_pixels) : max_pixels_(max_pixels) {}
  Result<ImageSize> open(std::span<const std::byte> file) override;
  Status decode(const Box& region, RowSink& sink) override;
  /// All pixels as PngPixels::kStored, row by row. `out` has room for them: kInvalidArgument.
  Status decode_stored(std::span<std::uint8_t> out);
  /// Of the file that was opened last: whether the checksums of the pixels' parts are right, so
  /// that damage is known before anything is decoded, and nothing but the end follows them.
  bool ends_soundly() const;

 private:
  /// A rectangular grid of the image's pixels whose rows follow each other in the file. An image
  /// that is not interlaced is one.
  struct Pass {
    int x = 0, y = 0;            // of its first pixel
    int x_step = 1, y_step = 1;  // from one to the next
    int width = 0, height = 0;   // in pixels of its own
  };
  Status inflate();
  std::span<const std::byte> whole_stream();
  Status decode_as(PngPixels pixels, const Box& region, RowSink& sink);
  Status decode_rows(PngPixels pixels, const Box& region, RowSink& sink);
  Status decode_passes(PngPixels pixels, const Box& region, RowSink& sink);
  Status place(PngPixels pixels, const Pass& pass, std::uint8_t* rows);
  /// Undoes the filter of the row that begins at `row` with the filter's name.
  Status unfilter_row(std::uint8_t* row, const std::uint8_t* above, std::size_t bytes) const;
  std::vector<Pass> passes() const;

  std::int64_t max_pixels_ = 0;
  PngFile png_;
  Inflater inflater_;
  std::vector<std::byte> stream_;     // its pieces, where there are several
  std::vector<std::byte> raw_;        // rows, each after its filter's name
  std::vector<std::uint8_t> zeros_;   // above the first row
  std::vector<std::uint8_t> rows_;    // of pixels, with padding
  std::vector<std::uint8_t> placed_;  // all pixels of an interlaced image, with padding
};

}  // namespace unstarve::feed
