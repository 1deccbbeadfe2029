#include "feed/jpeg/libjpeg/jpeg_encoder.h"

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "feed/jpeg/libjpeg/error_trap.h"

namespace unstarve::feed {
namespace {

constexpr int kChannels = 3;

// Tables and markers; the rest of a file takes less than its pixels.
constexpr std::size_t kHeaderBytes = 4096;

/// A compression into memory of the caller's, or into libjpeg's own where that is too little.
struct Compression {
  jpeg_compress_struct codec = {};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  Compression() = default;
  Compression(const Compression&) = delete;
  Compression& operator=(const Compression&) = delete;
  ~Compression() { jpeg_destroy_compress(&codec); }
};

void compress(Compression& to, const std::uint8_t* pixels, ImageSize size, int quality) {
  jpeg_compress_struct& codec = to.codec;
  jpeg_create_compress(&codec);
  jpeg_mem_dest(&codec, &to.bytes, &to.size);
  codec.image_width = static_cast<JDIMENSION>(size.width);
  codec.image_height = static_cast<JDIMENSION>(size.height);
  codec.input_components = kChannels;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  const std::ptrdiff_t row_bytes = std::ptrdiff_t{size.width} * kChannels;
  for (int y = 0; y < size.height; ++y) {
    auto* row = const_cast<JSAMPLE*>(pixels + y * row_bytes);  // libjpeg only reads it
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
}

}  // namespace

Status encode_jpeg(std::span<const std::uint8_t> pixels, ImageSize size, int quality,
                   std::vector<std::byte>& jpeg) {
  const std::int64_t expected = std::int64_t{size.width} * size.height * kChannels;
  if (size.width <= 0 || size.height <= 0 || expected != static_cast<std::int64_t>(pixels.size())) {
    return fail(ErrorCode::kInvalidArgument, "{} bytes are not an image of {} x {} pixels",
                pixels.size(), size.width, size.height);
  }
  jpeg.resize(static_cast<std::size_t>(expected) + kHeaderBytes);
  auto* const ours = reinterpret_cast<unsigned char*>(jpeg.data());
  JpegErrorTrap trap;
  Compression made;
  made.codec.err = trap.manager();
  made.bytes = ours;
  made.size = static_cast<unsigned long>(jpeg.size());
  if (!trap.guarded([&] { compress(made, pixels.data(), size, quality); })) {
    return fail(trap.code_or(ErrorCode::kInvalidArgument), "cannot encode an image: {}",
                trap.message());
  }
  if (made.bytes != ours) {
    const auto* first = reinterpret_cast<const std::byte*>(made.bytes);
    jpeg.assign(first, first + made.size);
    std::free(made.bytes);
    return {};
  }
  jpeg.resize(made.size);
  return {};
}

}  // namespace unstarve::feed
