#include "feed/jpeg/libjpeg/jpeg_decoder.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "feed/jpeg/libjpeg/cmyk.h"
#include "feed/jpeg/libjpeg/error_trap.h"
#include "feed/jpeg/libjpeg/scan_limit.h"
#include "kernels/resize.h"

namespace unstarve::feed {
namespace {

using kernels::kRowPadding;
using kernels::kStripRows;

// Fancy upsampling looks at the neighbouring chroma sample, so that pixels at the edge of a crop
// differ from those of a full decode unless two more are decoded.
constexpr int kContextPixels = 2;

}  // namespace

struct JpegDecoder::Impl {
  explicit Impl(const DecodeLimits& given) : scan_limit(given.max_scans), limits(given) {}

  jpeg_decompress_struct codec = {};
  JpegErrorTrap trap;
  JpegScanLimit scan_limit;
  DecodeLimits limits;
  bool is_cmyk = false;
  std::vector<std::uint8_t> strip;

  ~Impl() { jpeg_destroy_decompress(&codec); }

  /// A new codec for each image: tables outlive an image in libjpeg, and a file without its own
  /// would be decoded with those of the file before.
  Status renew_codec() {
    jpeg_destroy_decompress(&codec);
    if (!trap.guarded([&] { jpeg_create_decompress(&codec); })) {
      return fail(ErrorCode::kOutOfMemory, "cannot set up libjpeg: {}", trap.message());
    }
    codec.progress = scan_limit.manager();
    return {};
  }

  tl::unexpected<Error> corrupt() const {
    return fail(trap.code_or(ErrorCode::kCorruptData), "not a sound JPEG: {}", trap.message());
  }

  void read_strips(const Box& region, int first_column, RowSink& sink);
};

JpegDecoder::JpegDecoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JpegDecoder::JpegDecoder(JpegDecoder&&) noexcept = default;
JpegDecoder& JpegDecoder::operator=(JpegDecoder&&) noexcept = default;
JpegDecoder::~JpegDecoder() = default;

Result<JpegDecoder> JpegDecoder::create(const DecodeLimits& limits) {
  auto impl = std::make_unique<Impl>(limits);
  impl->trap.accept_damaged(limits.accept_damaged);
  impl->codec.err = impl->trap.manager();
  if (Status status = impl->renew_codec(); !status) return forward_error(status);
  return JpegDecoder(std::move(impl));
}

Result<ImageSize> JpegDecoder::open(std::span<const std::byte> bytes) {
  Impl& impl = *impl_;
  jpeg_decompress_struct& codec = impl.codec;
  if (bytes.empty()) return fail(ErrorCode::kCorruptData, "the file is empty");
  if (Status status = impl.renew_codec(); !status) return forward_error(status);
  const auto* start = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto size = static_cast<unsigned long>(bytes.size());
  const bool read = impl.trap.guarded([&] {
    jpeg_mem_src(&codec, start, size);
    jpeg_read_header(&codec, TRUE);
  });
  if (!read) return impl.corrupt();
  const auto pixels = std::int64_t{codec.image_width} * codec.image_height;
  if (pixels > impl.limits.max_pixels) {
    return fail(ErrorCode::kInvalidArgument,
                "{}x{} is more than {} pixels; raise max_pixels if it is meant", codec.image_width,
                codec.image_height, impl.limits.max_pixels);
  }
  if (codec.num_components != 1 && codec.num_components != 3 && codec.num_components != 4) {
    return fail(ErrorCode::kNotSupported, "a JPEG with {} colour components", codec.num_components);
  }
  impl.is_cmyk = codec.num_components == 4;
  return ImageSize{static_cast<int>(codec.image_width), static_cast<int>(codec.image_height)};
}

Status JpegDecoder::decode(const Box& region, RowSink& sink) {
  Impl& impl = *impl_;
  jpeg_decompress_struct& codec = impl.codec;
  const int width = static_cast<int>(codec.image_width);
  UNSTARVE_CHECK(region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0,
                 "a region has pixels");
  UNSTARVE_CHECK(region.x + region.width <= width &&
                     region.y + region.height <= static_cast<int>(codec.image_height),
                 "the region lies inside the image");
  const int left = std::max(0, region.x - kContextPixels);
  const int right = std::min(width, region.x + region.width + kContextPixels);
  const bool started = impl.trap.guarded([&] {
    codec.out_color_space = impl.is_cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&codec);
  });
  if (!started) return impl.corrupt();

  JDIMENSION first_column = 0;
  const bool positioned = impl.trap.guarded([&] {
    if (left > 0 || right < width) {
      // libjpeg moves the left edge to a block's boundary and widens accordingly.
      first_column = static_cast<JDIMENSION>(left);
      JDIMENSION columns = static_cast<JDIMENSION>(right - left);
      jpeg_crop_scanline(&codec, &first_column, &columns);
    }
    if (region.y > 0) jpeg_skip_scanlines(&codec, static_cast<JDIMENSION>(region.y));
  });
  if (!positioned) return impl.corrupt();

  const std::size_t stride =
      std::size_t{codec.output_width} * static_cast<std::size_t>(codec.output_components) +
      kRowPadding;
  if (impl.strip.size() < stride * kStripRows) impl.strip.resize(stride * kStripRows);
  const bool decoded =
      impl.trap.guarded([&] { impl.read_strips(region, static_cast<int>(first_column), sink); });
  jpeg_abort_decompress(&codec);
  if (!decoded) return impl.corrupt();
  return {};
}

void JpegDecoder::Impl::read_strips(const Box& region, int first_column, RowSink& sink) {
  const auto stride =
      std::ptrdiff_t{static_cast<int>(codec.output_width)} * codec.output_components + kRowPadding;
  const std::ptrdiff_t offset = std::ptrdiff_t{region.x - first_column} * 3;
  for (int done = 0; done < region.height; done += kStripRows) {
    const int count = std::min(kStripRows, region.height - done);
    for (int row = 0; row < count; ++row) {
      JSAMPROW target = strip.data() + row * stride;
      jpeg_read_scanlines(&codec, &target, 1);
      if (is_cmyk) cmyk_to_rgb(target, static_cast<int>(codec.output_width));
    }
    sink.rows(strip.data() + offset, stride, count);
  }
}

}  // namespace unstarve::feed
