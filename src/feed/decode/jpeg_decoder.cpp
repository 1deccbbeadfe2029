#include "feed/decode/jpeg_decoder.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE
#include <vector>

#include <jpeglib.h>
// After jpeglib.h, which it builds on.
#include <jerror.h>

#include "base/check.h"
#include "feed/decode/cmyk.h"
#include "kernels/resize.h"

namespace unstarve::feed {
namespace {

using kernels::kRowPadding;
using kernels::kStripRows;

// Fancy upsampling looks at the neighbouring chroma sample, so that pixels at the edge of a crop
// differ from those of a full decode unless two more are decoded.
constexpr int kContextPixels = 2;

/// libjpeg reports errors by calling error_exit, which must not return: it jumps back to the call
/// that entered libjpeg. Only libjpeg's own frames are left that way.
struct ErrorTrap {
  jpeg_error_mgr manager = {};  // first, so that its address is the trap's
  std::jmp_buf back = {};
  bool accept_damaged = false;
  std::array<char, JMSG_LENGTH_MAX> message = {};
};

ErrorTrap& trap_of(j_common_ptr codec) { return *reinterpret_cast<ErrorTrap*>(codec->err); }

[[noreturn]] void jump_back(j_common_ptr codec) {
  ErrorTrap& trap = trap_of(codec);
  (*codec->err->format_message)(codec, trap.message.data());
  std::longjmp(trap.back, 1);
}

/// Warnings that leave the pixels as they should be.
bool is_harmless(int message) {
  return message == JWRN_ADOBE_XFORM || message == JWRN_EXTRANEOUS_DATA ||
         message == JWRN_NOT_SEQUENTIAL || message == JWRN_TOO_MUCH_DATA ||
         message == JWRN_JFIF_MAJOR;
}

void on_message(j_common_ptr codec, int level) {
  if (level >= 0) return;  // a trace message
  const int message = codec->err->msg_code;
  if (is_harmless(message)) return;
  if (trap_of(codec).accept_damaged && message != JWRN_JPEG_EOF) return;
  jump_back(codec);
}

void print_nothing(j_common_ptr) {}

struct ScanLimit {
  jpeg_progress_mgr manager = {};  // first, as above
  int max_scans = 0;
};

void on_progress(j_common_ptr codec) {
  const auto* decompressor = reinterpret_cast<j_decompress_ptr>(codec);
  const auto& limit = *reinterpret_cast<const ScanLimit*>(codec->progress);
  if (decompressor->input_scan_number <= limit.max_scans) return;
  ErrorTrap& trap = trap_of(codec);
  std::snprintf(trap.message.data(), trap.message.size(), "more than %d scans", limit.max_scans);
  std::longjmp(trap.back, 1);
}

}  // namespace

struct JpegDecoder::Impl {
  jpeg_decompress_struct codec = {};
  ErrorTrap trap;
  ScanLimit scan_limit;
  DecodeLimits limits;
  bool created = false;
  bool is_cmyk = false;
  std::vector<std::uint8_t> strip;

  ~Impl() {
    if (created) jpeg_destroy_decompress(&codec);
  }

  /// Runs `body`, which calls libjpeg; false when it ended in libjpeg's error exit. Nothing in
  /// `body` that is alive during a call of libjpeg may need its destructor.
  template <class Body>
  bool guarded(Body body) {
    if (setjmp(trap.back) != 0) return false;  // NOLINT(cert-err52-cpp): libjpeg's interface
    body();
    return true;
  }

  tl::unexpected<Error> corrupt() const {
    return fail(ErrorCode::kCorruptData, "not a sound JPEG: {}", trap.message.data());
  }

  void read_strips(const Box& region, int first_column, RowSink& sink);
};

JpegDecoder::JpegDecoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JpegDecoder::JpegDecoder(JpegDecoder&&) noexcept = default;
JpegDecoder& JpegDecoder::operator=(JpegDecoder&&) noexcept = default;
JpegDecoder::~JpegDecoder() = default;

Result<JpegDecoder> JpegDecoder::create(const DecodeLimits& limits) {
  auto impl = std::make_unique<Impl>();
  impl->limits = limits;
  impl->trap.accept_damaged = limits.accept_damaged;
  impl->codec.err = jpeg_std_error(&impl->trap.manager);
  impl->trap.manager.error_exit = jump_back;
  impl->trap.manager.emit_message = on_message;
  impl->trap.manager.output_message = print_nothing;
  impl->scan_limit.max_scans = limits.max_scans;
  impl->scan_limit.manager.progress_monitor = on_progress;
  if (!impl->guarded([&] { jpeg_create_decompress(&impl->codec); })) {
    return fail(ErrorCode::kOutOfMemory, "cannot set up libjpeg: {}", impl->trap.message.data());
  }
  impl->created = true;
  impl->codec.progress = &impl->scan_limit.manager;
  return JpegDecoder(std::move(impl));
}

Result<ImageSize> JpegDecoder::open(std::span<const std::byte> bytes) {
  Impl& impl = *impl_;
  jpeg_decompress_struct& codec = impl.codec;
  jpeg_abort_decompress(&codec);
  if (bytes.empty()) return fail(ErrorCode::kCorruptData, "the file is empty");
  const auto* start = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto size = static_cast<unsigned long>(bytes.size());
  const bool read = impl.guarded([&] {
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
  const bool started = impl.guarded([&] {
    codec.out_color_space = impl.is_cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&codec);
  });
  if (!started) return impl.corrupt();

  JDIMENSION first_column = 0;
  const bool positioned = impl.guarded([&] {
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
      impl.guarded([&] { impl.read_strips(region, static_cast<int>(first_column), sink); });
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
